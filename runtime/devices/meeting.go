package devices

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Site is the place of a collective in the program, the same in every process.
type Site struct {
	Computation hlo.CompID
	Instruction hlo.InstrID
}

// SiteOf is the place of an instruction.
func SiteOf(in hlo.Instruction) Site { return Site{in.Computation().ID(), in.ID()} }

// visitKey is a device at a collective instruction. Every device executes the same instructions in the same order, so how often an
// instruction has been executed tells the meetings of a loop apart.
type visitKey struct {
	at     Site
	device Device
}

// meetingKey names one execution of a collective by one group.
type meetingKey struct {
	at    Site
	first Device // of the group
	count int
}

// Visitor is a device that has come to a collective.
type Visitor struct {
	Device   Device
	Operands []*hlo.Literal
	// Frame is the visitor's own, for the function that completes the meeting.
	Frame any
	// Complete computes what every visitor of this process gets. It is called once for each meeting, on one of its visitors, before any of
	// them goes on; so it may read the operands of all. Nil: each visitor computes for itself after it was resumed.
	Complete func(*Meeting) error
	// Fold, for an op that reduces, folds a piece of the arrays that the members bring as leaf i of the operands into out, in rank order; all
	// have as many bytes. With it, a transport may let each process fold a part of the arrays: the result is in Meeting.Reduced.
	Fold func(i int, brought [][]byte, out []byte) error
	// Result is memory of the visitor for what leaf i is folded to, or nil.
	Result func(i int) []byte
	// Resume lets the device go on, or fail. It is not called if Meet says that the meeting is done.
	Resume func(error)
}

// Meeting is one execution of a collective by a group of devices.
type Meeting struct {
	// In is the instruction, and Name how reports call it. Count numbers the executions, from 1. They are the same in every process.
	In    hlo.Instruction
	Name  string
	Count int
	Group []Device
	// Visitors are the devices of this process that take part, by rank; nil for those of others.
	Visitors []*Visitor
	// Brought is the operands of each member, by rank. They are complete when the meeting is; of those of other processes, the parts are
	// defined that a visitor of this process needs (see [Meeting.Need]).
	Brought [][]*hlo.Literal
	// Reduced is the leaves of the operands folded by the visitors' Fold, if the transport has done that; then Brought is not complete.
	Reduced [][]byte

	key     meetingKey
	missing int // visitors of this process that have not come
	remote  bool
}

// Meet brings a device to an execution of a collective, which reports call by a name, by a group that the device is in. When the last one has come, the meeting is completed and all others are resumed; the last gets done, if what other
// processes bring is not waited for. Visitors and what was brought may be read from then on.
func (m *Mesh) Meet(in hlo.Instruction, name string, group []Device, v *Visitor) (t *Meeting, done bool, err error) {
	t, last, err := m.enter(in, name, group, v)
	switch {
	case err != nil || !last:
		return t, false, err
	case !t.remote:
		err = t.complete(v)
		t.release(v, err)
		return t, true, err
	}
	m.transport.Exchange(t, func(err error) {
		m.answered()
		if err == nil {
			err = t.complete(v)
		}
		t.release(nil, err)
	})
	return t, false, nil
}

// enter notes that a visitor has come.
func (m *Mesh) enter(in hlo.Instruction, name string, group []Device, v *Visitor) (t *Meeting, last bool, err error) {
	rank := slices.Index(group, v.Device)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure != nil {
		return nil, false, m.failure
	}
	at := SiteOf(in)
	visit := visitKey{at, v.Device}
	m.counts[visit]++
	key := meetingKey{at, group[0], m.counts[visit]}
	if t = m.index[key]; t == nil {
		t = m.call(key, in, name, group)
		m.index[key] = t
		m.open = append(m.open, t)
	}
	if rank < 0 || rank >= len(t.Visitors) || t.Visitors[rank] != nil || !slices.Equal(t.Group, group) {
		return nil, false, fmt.Errorf("%s is not a member of the group %v that meets there", m.Name(v.Device), t.Group)
	}
	t.Visitors[rank], t.Brought[rank] = v, v.Operands
	if t.missing--; t.missing > 0 {
		return t, false, nil
	}
	delete(m.index, key)
	m.open = slices.DeleteFunc(m.open, func(o *Meeting) bool { return o == t })
	if t.remote {
		m.remote++
	}
	return t, true, nil
}

// call makes a meeting that no device has joined yet.
func (m *Mesh) call(key meetingKey, in hlo.Instruction, name string, group []Device) *Meeting {
	t := &Meeting{In: in, Name: name, Count: key.count, Group: group, Visitors: make([]*Visitor, len(group)), Brought: make([][]*hlo.Literal, len(group)), key: key}
	for _, d := range group {
		if m.Holds(d) {
			t.missing++
		} else {
			t.remote = true
		}
	}
	return t
}

// answered notes that another process has brought what was waited for.
func (m *Mesh) answered() {
	m.mu.Lock()
	m.remote--
	m.mu.Unlock()
}

func (t *Meeting) complete(v *Visitor) error {
	if v.Complete == nil {
		return nil
	}
	return v.Complete(t)
}

// release lets all visitors but one go on.
func (t *Meeting) release(but *Visitor, err error) {
	for _, v := range t.Visitors {
		if v != nil && v != but {
			v.Resume(err)
		}
	}
}
