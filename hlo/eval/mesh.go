package eval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
)

// Device is a place in the grid of replicas and partitions.
type Device struct{ Replica, Partition int }

// Mesh is the devices of one program that run together, and where they meet: at collectives, and at mailboxes for what one device sends to
// another. It blocks nobody. Who comes too early is told later, through a function, that it may go on; so devices may be goroutines
// that wait, or tasks that end and are resumed.
//
// A mesh is for one execution. Its methods are safe for concurrent use, but for the fields, which are set before the first use.
type Mesh struct {
	Replicas, Partitions int
	// Host answers infeed, outfeed, and send and recv that go to the host; without one they fail.
	Host Host

	mu       sync.Mutex
	open     []*Meeting // that wait for somebody
	index    map[meetingKey]*Meeting
	counts   map[visitKey]int
	mail     map[mailKey]*mailbox
	promised map[inboxKey][]promise
	atWork   int
	finished []bool
	failure  error
}

// visitKey is a device at a collective instruction. Every device executes the same instructions in the same order, so how often an
// instruction has been executed tells the meetings of a loop apart.
type visitKey struct {
	at     any
	device Device
}

// meetingKey names one execution of a collective by one group.
type meetingKey struct {
	at    any
	first Device // of the group
	count int
}

// Visitor is a device that has come to a collective.
type Visitor struct {
	Device   Device
	Operands []*hlo.Literal
	// Frame is the visitor's own, for who completes the meeting.
	Frame any
	// Resume lets the device go on, or fail.
	Resume func(error)
}

// Meeting is one execution of a collective by a group of devices.
type Meeting struct {
	Group    []Device
	Visitors []*Visitor // by rank

	mesh    *Mesh
	key     meetingKey
	what    string
	missing int
}

// NewMesh makes a grid whose devices are all at work.
func NewMesh(replicas, partitions int) *Mesh {
	n := replicas * partitions
	return &Mesh{
		Replicas: replicas, Partitions: partitions, atWork: n, finished: make([]bool, n),
		index: make(map[meetingKey]*Meeting), counts: make(map[visitKey]int),
		mail: make(map[mailKey]*mailbox), promised: make(map[inboxKey][]promise),
	}
}

// NumDevices is the size of the grid.
func (m *Mesh) NumDevices() int { return m.Replicas * m.Partitions }

// Device is the place of device number i, in the order of replicas, then partitions.
func (m *Mesh) Device(i int) Device { return Device{i / m.Partitions, i % m.Partitions} }

// Number is the inverse of Device.
func (m *Mesh) Number(d Device) int { return d.Replica*m.Partitions + d.Partition }

func (m *Mesh) name(d Device) string {
	switch {
	case m.Replicas == 1 || m.Partitions == 1:
		return fmt.Sprintf("device %d", m.Number(d))
	}
	return fmt.Sprintf("device %d (replica %d, partition %d)", m.Number(d), d.Replica, d.Partition)
}

// Meet brings a device to an execution of the collective at (any key that tells instructions apart; what is its name) by a group that the
// device is in. Whoever comes last has to do what is to be done for all, and then to call Release. The others are resumed by that
// Release, or when the mesh fails. Visitors may be read by the last until it calls Release, by the others after they are resumed.
func (m *Mesh) Meet(at any, what string, group []Device, v *Visitor) (t *Meeting, last bool, err error) {
	rank := slices.Index(group, v.Device)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure != nil {
		return nil, false, m.failure
	}
	visit := visitKey{at, v.Device}
	m.counts[visit]++
	key := meetingKey{at, group[0], m.counts[visit]}
	if t = m.index[key]; t == nil {
		t = &Meeting{Group: group, Visitors: make([]*Visitor, len(group)), mesh: m, key: key, what: what, missing: len(group)}
		m.index[key] = t
		m.open = append(m.open, t)
	}
	if rank < 0 || rank >= len(t.Visitors) || t.Visitors[rank] != nil || !slices.Equal(t.Group, group) {
		return nil, false, fmt.Errorf("%s is not a member of the group %v that meets there", m.name(v.Device), t.Group)
	}
	t.Visitors[rank] = v
	if t.missing--; t.missing > 0 {
		return t, false, nil
	}
	delete(m.index, key)
	m.open = slices.DeleteFunc(m.open, func(o *Meeting) bool { return o == t })
	return t, true, nil
}

// Brought is what each member has brought, by rank.
func (t *Meeting) Brought() [][]*hlo.Literal {
	brought := make([][]*hlo.Literal, len(t.Visitors))
	for i, v := range t.Visitors {
		brought[i] = v.Operands
	}
	return brought
}

// Release lets all visitors but the last go on.
func (t *Meeting) Release(last *Visitor, err error) {
	for _, v := range t.Visitors {
		if v != last {
			v.Resume(err)
		}
	}
}

// Rest counts the devices that are at work: a device calls it with true when it cannot go on before it is resumed, with false when it
// can. When all rest and each waits for another, the mesh fails.
func (m *Mesh) Rest(rests bool) {
	m.mu.Lock()
	if rests {
		m.atWork--
	} else {
		m.atWork++
	}
	resume := m.deadlock()
	m.mu.Unlock()
	resume()
}

// Finish takes a device out that has done all it has to do. It has to rest, too.
func (m *Mesh) Finish(d Device) {
	m.mu.Lock()
	m.finished[m.Number(d)] = true
	resume := m.deadlock()
	m.mu.Unlock()
	resume()
}

// Fail ends all waiting with err, unless the mesh has failed already.
func (m *Mesh) Fail(err error) {
	m.mu.Lock()
	resume := m.fail(err)
	m.mu.Unlock()
	resume()
}

// Err is what the mesh has failed with.
func (m *Mesh) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}

// fail returns what is to be called without the lock.
func (m *Mesh) fail(err error) (resume func()) {
	if m.failure != nil {
		return func() {}
	}
	m.failure = err
	var waiting []func()
	for _, t := range m.open {
		for _, v := range t.Visitors {
			if v != nil {
				waiting = append(waiting, func() { v.Resume(err) })
			}
		}
	}
	for _, b := range m.mail {
		if b.waiter != nil {
			w := b.waiter
			b.waiter = nil
			waiting = append(waiting, func() { w.resume(nil, err) })
		}
	}
	m.open = nil
	clear(m.index)
	return func() {
		for _, w := range waiting {
			w()
		}
	}
}

// ErrDeadlock is what the error of devices that wait for each other wraps.
var ErrDeadlock = errors.New("deadlock")

// deadlock fails the mesh if nobody is at work and every device that has not finished waits for another.
func (m *Mesh) deadlock() (resume func()) {
	resume = func() {}
	if m.atWork > 0 || m.failure != nil {
		return resume
	}
	waits := m.waits()
	if len(waits) == 0 {
		return resume
	}
	for i, done := range m.finished {
		if !done && len(waits[i]) == 0 {
			return resume // it is about to go on
		}
	}
	var text strings.Builder
	for i, done := range m.finished {
		if done {
			fmt.Fprintf(&text, "\n  %s has finished", m.name(m.Device(i)))
		}
		for _, w := range waits[i] {
			fmt.Fprintf(&text, "\n  %s waits in %s for %s", m.name(m.Device(i)), w.what, m.names(w.from))
		}
	}
	return m.fail(fmt.Errorf("%w: no device can go on%s", ErrDeadlock, text.String()))
}

// wait is why a device does not go on.
type wait struct {
	what string
	from []Device
}

// waits lists them by device.
func (m *Mesh) waits() map[int][]wait {
	waits := make(map[int][]wait)
	for _, t := range m.open {
		var missing []Device
		for i, v := range t.Visitors {
			if v == nil {
				missing = append(missing, t.Group[i])
			}
		}
		for _, v := range t.Visitors {
			if v != nil {
				n := m.Number(v.Device)
				waits[n] = append(waits[n], wait{t.what, missing})
			}
		}
	}
	for k, b := range m.mail {
		if b.waiter != nil {
			n := m.Number(k.to)
			waits[n] = append(waits[n], wait{b.waiter.what, []Device{k.from}})
		}
	}
	return waits
}

func (m *Mesh) names(devices []Device) string {
	var names []string
	for _, d := range devices {
		names = append(names, m.name(d))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
