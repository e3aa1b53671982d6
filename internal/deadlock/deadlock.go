// Package deadlock finds out, without running a program, whether its devices can come to wait for one another.
//
// [Find] follows what every device does, thread by thread: the collectives that it comes to, what it sends, what it waits for, the
// asynchronous work that it begins and ends. Branches and loops are followed where what they depend on is known, as it is where it is
// computed from constants and the number of the device. Then all threads of all devices advance as far as they can; if some cannot end, each
// waits for another that cannot, and that is the cycle.
//
// A branch that depends on data counts as taken the same way everywhere, and a loop of unknown length as one round.
package deadlock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// Wait is a thread that cannot go on.
type Wait struct {
	Device devices.Device
	Thread string          // the start that began it, or "main"
	At     hlo.Instruction // where it waits
	For    devices.Device  // whom it waits for
}

// Cycle is threads of which each waits for the next one, and the last for the first, or for a device that has ended.
type Cycle struct {
	Waits []Wait
	Ended bool // the last waits for a device that has ended
	grid  devices.Grid
}

// String says who waits where, and for whom.
func (c *Cycle) String() string {
	var b strings.Builder
	for i, w := range c.Waits {
		who := c.grid.Name(w.Device)
		if i > 0 {
			who = ", which"
		}
		thread := ""
		if w.Thread != mainThread {
			thread = " in what %" + w.Thread + " began"
		}
		fmt.Fprintf(&b, "%s waits at %%%s, %v,%s for %s", who, w.At.Name(), w.At.Opcode(), thread, c.grid.Name(w.For))
	}
	if c.Ended {
		b.WriteString(", which never comes there")
	}
	return b.String()
}

const mainThread = "main"

// Find looks for threads of the devices of a grid that wait for one another; nil if all end.
func Find(m hlo.Module, g devices.Grid) (*Cycle, error) {
	s := &search{grid: g, visits: make(map[meeting]map[int]int), letters: make(map[letter]int)}
	for d := range g.NumDevices() {
		f := &follower{m: m, grid: g, device: d, quiet: make(map[hlo.CompID]bool)}
		root := f.thread(mainThread)
		params := make([][]*hlo.Literal, m.Entry().NumParameters())
		if _, err := f.computation(root, m.Entry(), params); err != nil {
			return nil, err
		}
		s.threads = append(s.threads, f.threads...)
		root.begun = true
	}
	return s.run(), nil
}

// thread is a sequence of events of one device.
type thread struct {
	device int
	name   string
	events []event
	at     int
	begun  bool
	number int // of the visit that it waits in; 0 before it has come
}

func (t *thread) ended() bool { return t.at == len(t.events) }

type eventKind uint8

const (
	meets    eventKind = iota // others of a group
	sends                     // without waiting
	receives                  // what another sends
	begins                    // a thread
	joins                     // a thread that has ended
)

type event struct {
	kind    eventKind
	in      hlo.Instruction
	group   []int // devices that meet
	letters []letter
	thread  *thread
}

// meeting is an instruction at which the devices of a group meet.
type meeting struct {
	comp  hlo.CompID
	in    hlo.InstrID
	group string
}

// letter is a message from one device to another.
type letter struct {
	channel  int64
	from, to int
}

// search advances all threads.
type search struct {
	grid    devices.Grid
	threads []*thread
	visits  map[meeting]map[int]int // how often each device has come
	letters map[letter]int          // that have been sent and not received
}

func (s *search) run() *Cycle {
	for progress := true; progress; {
		progress = false
		for _, t := range s.threads {
			for t.begun && !t.ended() && s.step(t) {
				t.at, t.number = t.at+1, 0
				progress = true
			}
		}
	}
	for _, t := range s.threads {
		if t.begun && !t.ended() {
			return s.cycle(t)
		}
	}
	return nil
}

// step does what the next event of a thread says, and reports false if it has to wait.
func (s *search) step(t *thread) bool {
	e := &t.events[t.at]
	switch e.kind {
	case meets:
		return len(s.missing(t, e)) == 0
	case sends:
		for _, l := range e.letters {
			s.letters[l]++
		}
	case receives:
		for _, l := range e.letters {
			if s.letters[l] == 0 {
				return false
			}
		}
		for _, l := range e.letters {
			s.letters[l]--
		}
	case begins:
		e.thread.begun = true
	case joins:
		return e.thread.ended()
	}
	return true
}

// missing lists the devices that have not come to a meeting. The thread itself comes with the first question.
func (s *search) missing(t *thread, e *event) (list []int) {
	key := meeting{e.in.Computation().ID(), e.in.ID(), fmt.Sprint(e.group)}
	visits := s.visits[key]
	if visits == nil {
		visits = make(map[int]int)
		s.visits[key] = visits
	}
	if t.number == 0 {
		visits[t.device]++
		t.number = visits[t.device]
	}
	for _, d := range e.group {
		if visits[d] < t.number {
			list = append(list, d)
		}
	}
	return list
}

// waitsFor lists the devices that a thread waits for.
func (s *search) waitsFor(t *thread) (list []int) {
	e := &t.events[t.at]
	switch e.kind {
	case meets:
		return s.missing(t, e)
	case receives:
		for _, l := range e.letters {
			if s.letters[l] == 0 {
				list = append(list, l.from)
			}
		}
	case joins:
		list = append(list, t.device)
	}
	return list
}

// cycle follows waits from a thread on until a thread comes again.
func (s *search) cycle(t *thread) *Cycle {
	var path []*thread
	var waits []Wait
	for {
		if i := slices.Index(path, t); i >= 0 {
			return &Cycle{Waits: waits[i:], grid: s.grid}
		}
		path = append(path, t)
		e := &t.events[t.at]
		if e.kind == joins {
			waits = append(waits, Wait{s.grid.Device(t.device), t.name, e.in, s.grid.Device(t.device)})
			t = e.thread
			continue
		}
		var next *thread
		list := s.waitsFor(t)
		for _, d := range list {
			for _, other := range s.threads {
				if other.device == d && other.begun && !other.ended() && (next == nil || slices.Contains(path, other) && !slices.Contains(path, next)) {
					next = other
				}
			}
		}
		if next == nil {
			waits = append(waits, Wait{s.grid.Device(t.device), t.name, e.in, s.grid.Device(list[0])})
			return &Cycle{Waits: waits, Ended: true, grid: s.grid}
		}
		waits = append(waits, Wait{s.grid.Device(t.device), t.name, e.in, s.grid.Device(next.device)})
		t = next
	}
}
