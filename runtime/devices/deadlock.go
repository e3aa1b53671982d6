package devices

import (
	"errors"
	"fmt"
	"strings"
)

// ErrDeadlock is what the error of devices that wait for each other wraps.
var ErrDeadlock = errors.New("deadlock")

// deadlock fails the mesh if no device of this process is at work, each that has not finished waits for another, and no other process has to
// answer.
func (m *Mesh) deadlock() (resume func()) {
	resume = func() {}
	if m.atWork > 0 || m.remote > 0 || m.failure != nil {
		return resume
	}
	waits := m.waits()
	if len(waits) == 0 {
		return resume
	}
	for i, done := range m.finished {
		if !done && len(waits[i]) == 0 && m.Holds(m.Device(i)) {
			return resume // it is about to go on
		}
	}
	var text strings.Builder
	for i, done := range m.finished {
		if done {
			fmt.Fprintf(&text, "\n  %s has finished", m.Name(m.Device(i)))
		}
		for _, w := range waits[i] {
			fmt.Fprintf(&text, "\n  %s waits in %s for %s", m.Name(m.Device(i)), w.what, m.names(w.from))
		}
	}
	return m.fail(fmt.Errorf("%w: no device can go on%s", ErrDeadlock, text.String()))
}

// AtWork ends the description of a device that waits for no other of its process.
const AtWork = " is at work"

// Waits describes where the devices of this process are: who waits, in which instruction, and for whom, by lines.
func (m *Mesh) Waits() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	waits := m.waits()
	for i, done := range m.finished {
		switch here := m.Device(i); {
		case !m.Holds(here):
		case done:
			lines = append(lines, m.Name(here)+" has finished")
		case len(waits[i]) == 0:
			lines = append(lines, m.Name(here)+AtWork)
		}
		for _, w := range waits[i] {
			lines = append(lines, fmt.Sprintf("%s waits in %s for %s", m.Name(m.Device(i)), w.what, m.names(w.from)))
		}
	}
	return lines
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
			if v == nil && m.Holds(t.Group[i]) {
				missing = append(missing, t.Group[i])
			}
		}
		for _, v := range t.Visitors {
			if v != nil {
				n := m.Number(v.Device)
				waits[n] = append(waits[n], wait{t.Name, missing})
			}
		}
	}
	for k, b := range m.mail {
		if b.waiter != nil {
			n := m.Number(k.To)
			waits[n] = append(waits[n], wait{b.waiter.what, []Device{k.From}})
		}
	}
	return waits
}
