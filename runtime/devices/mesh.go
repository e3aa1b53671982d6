// Package devices is where the devices of one program meet.
//
// A [Mesh] is a grid of replicas and partitions. Devices meet at collectives ([Mesh.Meet]) and at the mailboxes of sends and receives
// ([Mesh.Send], [Mesh.Receipt]). The package knows who takes part and when everybody has come. What a device gets is computed by the engine
// that runs it: the evaluator and the kernels each have their own code for that.
//
// Nothing here blocks. A device that comes early is resumed through a callback, so that devices may be goroutines that wait, or tasks
// that end and are started again.
//
// The devices of a mesh may be spread over processes. A [Transport] carries what the devices of one process bring to those of the others;
// without one, all devices are in this process.
package devices

import (
	"fmt"
	"strings"
	"sync"
)

// Device is a place in the grid of replicas and partitions.
type Device struct{ Replica, Partition int }

// Mesh is the devices of one program that run together. A mesh is for one execution. Its methods are safe for concurrent use.
type Mesh struct {
	Grid
	transport Transport // or nil: all devices are here

	mu       sync.Mutex
	open     []*Meeting // that wait for a device of this process
	index    map[meetingKey]*Meeting
	counts   map[visitKey]int
	mail     map[mailKey]*mailbox
	promised map[inboxKey][]promise
	remote   int // meetings and letters that other processes have to answer
	atWork   int
	finished []bool
	failure  error
}

// NewMesh makes a grid whose devices are all at work, in this process.
func NewMesh(replicas, partitions int) *Mesh { return NewMeshOver(nil, replicas, partitions) }

// NewMeshOver makes a grid of which this process has the devices that the transport says. Those are at work.
func NewMeshOver(t Transport, replicas, partitions int) *Mesh {
	m := &Mesh{
		Grid: Grid{replicas, partitions}, transport: t, finished: make([]bool, replicas*partitions),
		index: make(map[meetingKey]*Meeting), counts: make(map[visitKey]int),
		mail: make(map[mailKey]*mailbox), promised: make(map[inboxKey][]promise),
	}
	for i := range m.finished {
		if m.Holds(m.Device(i)) {
			m.atWork++
		}
	}
	if t != nil {
		t.Bind(m)
	}
	return m
}

// Holds reports whether a device runs in this process.
func (m *Mesh) Holds(d Device) bool { return m.transport == nil || m.transport.Holds(d) }

// Grid is the shape of a mesh. Devices are numbered by replica, then by partition.
type Grid struct{ Replicas, Partitions int }

// NumDevices is the size of the grid.
func (g Grid) NumDevices() int { return g.Replicas * g.Partitions }

// Device is the place of device number i.
func (g Grid) Device(i int) Device { return Device{i / g.Partitions, i % g.Partitions} }

// Number is the inverse of Device.
func (g Grid) Number(d Device) int { return d.Replica*g.Partitions + d.Partition }

// Name is how messages call a device.
func (g Grid) Name(d Device) string {
	if g.Replicas == 1 || g.Partitions == 1 {
		return fmt.Sprintf("device %d", g.Number(d))
	}
	return fmt.Sprintf("device %d (replica %d, partition %d)", g.Number(d), d.Replica, d.Partition)
}

func (g Grid) names(devices []Device) string {
	var names []string
	for _, d := range devices {
		names = append(names, g.Name(d))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
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

// Fail ends all waiting with err, here and in other processes, unless the mesh has failed already.
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
		if m.transport != nil {
			m.transport.Fail(err)
		}
	}
}
