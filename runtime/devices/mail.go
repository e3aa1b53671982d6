package devices

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Each channel and pair of devices has a mailbox, first in, first out. A send never waits; a recv
// says whom it expects something from, and its done takes it.

// mailKey names a mailbox.
type mailKey = Letter

type mailbox struct {
	letters []*hlo.Literal
	waiter  *recipient
}

// recipient is a device that waits for a letter.
type recipient struct {
	what   string
	resume func(*hlo.Literal, error)
}

// inboxKey is a device's end of a channel.
type inboxKey struct {
	channel int64
	to      Device
}

// promise is a recv that has no done yet.
type promise struct {
	from Device
	none bool // there is no sender: the value is zeros
}

// sent checks that what was sent is what a recv-done wants.
func sent(v *hlo.Literal, in hlo.Instruction) error {
	if want := in.Shape().Elem(0); !v.Shape().Compatible(want) {
		return fmt.Errorf("%v was sent, %v is wanted", v.Shape(), want)
	}
	return nil
}

// Send puts a value into the mailbox of each device that a send on this device goes to. The value must not be changed afterwards.
func (m *Mesh) Send(in hlo.Instruction, from Device, v *hlo.Literal) error {
	pairs, channel, err := m.pairs(in)
	if err != nil {
		return err
	}
	var resume []func()
	m.mu.Lock()
	for _, p := range pairs {
		if p.from(from) != from {
			continue
		}
		k := mailKey{channel, from, p.to(from)}
		if !m.Holds(k.To) {
			m.remote++
			resume = append(resume, func() { m.post(k, v) })
			continue
		}
		b := m.box(k)
		if w := b.waiter; w != nil {
			b.waiter = nil
			resume = append(resume, func() { w.resume(v, nil) })
		} else {
			b.letters = append(b.letters, v)
		}
	}
	m.mu.Unlock()
	for _, r := range resume {
		r()
	}
	return nil
}

// post sends a letter to another process.
func (m *Mesh) post(k mailKey, v *hlo.Literal) {
	m.transport.Send(k, v, func(err error) {
		m.answered()
		if err != nil {
			m.Fail(err)
		}
	})
}

func (m *Mesh) box(k mailKey) *mailbox {
	b := m.mail[k]
	if b == nil {
		b = new(mailbox)
		m.mail[k] = b
	}
	return b
}

// Promise notes at a recv what the next recv-done of its channel is to take.
func (m *Mesh) Promise(in hlo.Instruction, to Device) error {
	pairs, channel, err := m.pairs(in)
	if err != nil {
		return err
	}
	p := promise{none: true}
	for _, q := range pairs {
		if q.to(to) == to {
			p = promise{from: q.from(to)}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := inboxKey{channel, to}
	m.promised[k] = append(m.promised[k], p)
	return nil
}

// Receipt is a recv-done on a device, called what in reports: it takes what the earliest recv on its channel was promised, a nil value for zeros; or ready is
// false, and resume will be called with it. The value is the sender's and must not be changed.
func (m *Mesh) Receipt(in hlo.Instruction, what string, to Device, resume func(*hlo.Literal, error)) (v *hlo.Literal, ready bool, err error) {
	channel := hlo.AttrsOf[hlo.SendRecvAttrs](in).ChannelID.Value
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure != nil {
		return nil, false, m.failure
	}
	k := inboxKey{channel, to}
	promises := m.promised[k]
	if len(promises) == 0 {
		return nil, false, fmt.Errorf("no recv on channel %d is under way", channel)
	}
	m.promised[k] = promises[1:]
	p := promises[0]
	if p.none {
		return nil, true, nil
	}
	letter := mailKey{channel, p.from, to}
	if !m.Holds(p.from) {
		m.remote++
		m.transport.Receive(letter, in.Shape().Elem(0), func(v *hlo.Literal, err error) {
			m.answered()
			resume(v, err)
		})
		return nil, false, nil
	}
	b := m.box(letter)
	if len(b.letters) > 0 {
		v, b.letters = b.letters[0], b.letters[1:]
		return v, true, sent(v, in)
	}
	if b.waiter != nil {
		return nil, false, fmt.Errorf("two dones wait on channel %d", channel)
	}
	b.waiter = &recipient{what, func(v *hlo.Literal, err error) {
		if err == nil {
			err = sent(v, in)
		}
		resume(v, err)
	}}
	return nil, false, nil
}

// pair is a source and a target, as ids along one axis of the mesh.
type pair struct {
	source, target int
	mode           groupMode
}

func (p pair) from(other Device) Device { return p.device(p.source, other) }
func (p pair) to(other Device) Device   { return p.device(p.target, other) }

// device is the one with an id, in the same replica or partition as other.
func (p pair) device(id int, other Device) Device {
	if p.mode == crossPartition {
		return Device{other.Replica, id}
	}
	return Device{id, other.Partition}
}

// pairsAttribute is where XLA's decomposition of a permutation into sends and receives keeps who sends to whom.
const pairsAttribute = "_xla_send_recv_source_target_pairs"

// pairs reads who sends to whom. Ids are those of partitions for a positive channel, else of replicas; a device that is alone sends to
// itself.
func (m *Mesh) pairs(in hlo.Instruction) ([]pair, int64, error) {
	channel := hlo.AttrsOf[hlo.SendRecvAttrs](in).ChannelID.Value
	mode, all := crossReplica, m.Replicas
	if channel > 0 && m.Partitions > 1 {
		mode, all = crossPartition, m.Partitions
	}
	text, ok := "", false
	if c := in.Common(); c != nil {
		text, ok = c.FrontendAttributes.Get(pairsAttribute)
	}
	if !ok {
		if m.NumDevices() > 1 {
			return nil, 0, fmt.Errorf("it does not say who sends to whom: frontend attribute %s is missing", pairsAttribute)
		}
		return []pair{{0, 0, mode}}, channel, nil
	}
	var pairs []pair
	for _, item := range strings.Split(strings.Trim(strings.ReplaceAll(text, " ", ""), "{}"), "},{") {
		source, target, ok := strings.Cut(item, ",")
		s, err1 := strconv.Atoi(source)
		t, err2 := strconv.Atoi(target)
		switch {
		case item == "":
			continue
		case !ok || err1 != nil || err2 != nil:
			return nil, 0, fmt.Errorf("frontend attribute %s=%q: want {{source,target},...}", pairsAttribute, text)
		case s < 0 || t < 0 || s >= all || t >= all:
			return nil, 0, fmt.Errorf("pair {%d,%d} among %d devices", s, t, all)
		}
		pairs = append(pairs, pair{s, t, mode})
	}
	return pairs, channel, nil
}
