package devices_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime/devices"
)

// halves is a transport between two halves of a mesh of four, in one process: what it is given on one side, it hands to the other.
type halves struct {
	side  int
	mu    *sync.Mutex
	held  map[string]*half
	fails *[]error
}

type half struct {
	t    *devices.Meeting
	done func(error)
}

func (h *halves) Bind(*devices.Mesh)          {}
func (h *halves) Holds(d devices.Device) bool { return d.Partition/2 == h.side }
func (h *halves) Exchange(t *devices.Meeting, done func(error)) {
	h.mu.Lock()
	other := h.held[t.Name]
	if other == nil {
		h.held[t.Name] = &half{t, done}
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	for i := range t.Group {
		if t.Brought[i] == nil {
			t.Brought[i] = other.t.Brought[i]
		} else {
			other.t.Brought[i] = t.Brought[i]
		}
	}
	go func() { other.done(nil); done(nil) }()
}
func (h *halves) Send(devices.Letter, *hlo.Literal, func(error)) {}
func (h *halves) Receive(devices.Letter, hlo.Shape, func(*hlo.Literal, error)) {
}
func (h *halves) Fail(err error) { *h.fails = append(*h.fails, err) }

// at is a collective.
func at(t *testing.T) hlo.Instruction {
	t.Helper()
	m, err := parser.Parse("m", `HloModule m
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}
ENTRY e {
  x = s32[] parameter(0)
  ROOT r = s32[] all-reduce(x), channel_id=1, replica_groups={}, use_global_device_ids=true, to_apply=add
}`)
	require.NoError(t, err)
	return m.Entry().Root()
}

func number(t *testing.T, v int32) *hlo.Literal {
	t.Helper()
	l, err := hlo.LiteralOf(hlo.MakeShape(hlo.S32), v)
	require.NoError(t, err)
	return l
}

func TestMeetingAcrossProcesses(t *testing.T) {
	var mu sync.Mutex
	held, fails := map[string]*half{}, []error{}
	group := []devices.Device{{Partition: 0}, {Partition: 1}, {Partition: 2}, {Partition: 3}}
	var wait sync.WaitGroup
	sums := make([]int32, 4)
	for side := range 2 {
		mesh := devices.NewMeshOver(&halves{side, &mu, held, &fails}, 1, 4)
		for p := 2 * side; p < 2*side+2; p++ {
			wait.Add(1)
			v := &devices.Visitor{
				Device: group[p], Operands: []*hlo.Literal{number(t, int32(p+1))}, Frame: p,
				Complete: func(m *devices.Meeting) error {
					for rank, v := range m.Visitors {
						for _, b := range m.Brought {
							if v != nil {
								sums[rank] += hlo.Values[int32](b[0])[0]
							}
						}
					}
					return nil
				},
				Resume: func(err error) { assert.NoError(t, err); wait.Done() },
			}
			_, done, err := mesh.Meet(at(t), "all-reduce r", group, v)
			require.NoError(t, err)
			assert.False(t, done, "who meets others has to wait for them")
		}
		mesh.Rest(true)
		mesh.Rest(true)
		assert.NoError(t, mesh.Err(), "no deadlock: another process has to answer")
	}
	wait.Wait()
	assert.Equal(t, []int32{10, 10, 10, 10}, sums)
	assert.Empty(t, fails)
}

func TestFailureReachesWaitingDevicesAndOtherProcesses(t *testing.T) {
	var mu sync.Mutex
	var fails []error
	mesh := devices.NewMeshOver(&halves{0, &mu, map[string]*half{}, &fails}, 1, 4)
	group := []devices.Device{{Partition: 0}, {Partition: 1}}
	var got error
	_, done, err := mesh.Meet(at(t), "all-reduce r", group, &devices.Visitor{Device: group[0], Resume: func(err error) { got = err }})
	require.NoError(t, err)
	require.False(t, done)
	broken := errors.New("broken")
	mesh.Fail(broken)
	assert.Equal(t, broken, got)
	assert.Equal(t, []error{broken}, fails)
}

func TestDeadlockNamesWhoWaits(t *testing.T) {
	mesh := devices.NewMesh(1, 2)
	group := []devices.Device{{Partition: 0}, {Partition: 1}}
	_, _, err := mesh.Meet(at(t), "all-reduce r", group, &devices.Visitor{Device: group[0], Resume: func(error) {}})
	require.NoError(t, err)
	mesh.Rest(true)
	mesh.Rest(true)
	mesh.Finish(group[1])
	require.ErrorIs(t, mesh.Err(), devices.ErrDeadlock)
	assert.ErrorContains(t, mesh.Err(), "device 0 waits in all-reduce r for device 1\n  device 1 has finished")
}
