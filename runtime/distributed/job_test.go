package distributed_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/internal/jobtest"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/runtime/distributed"
)

// inJobs calls f as each process of a job of a size would, and returns what each call did.
func inJobs(t *testing.T, size int, o distributed.Options, f func(*distributed.Job) error) []error {
	t.Helper()
	fab := newFabric(size)
	jobs := make([]*distributed.Job, size)
	for rank := range jobs {
		var err error
		jobs[rank], err = distributed.Start(fab.open(rank), o)
		require.NoError(t, err)
	}
	return each(jobs, func(j *distributed.Job) error {
		if err := f(j); err != nil {
			return errors.Join(err, j.Close(1))
		}
		return j.Close(0)
	})
}

// TestBits runs every collective in 1, 2, 4 and 8 processes, on both engines: the bits are those of the run in one process.
func TestBits(t *testing.T) {
	programs := append(jobtest.Generated(), jobtest.Corpus("../../../shared")...)
	jobs := make(map[int][]*distributed.Job) // by size
	for _, size := range []int{1, 2, 4, 8} {
		fab := newFabric(size)
		for rank := range size {
			j, err := distributed.Start(fab.open(rank), distributed.Options{})
			require.NoError(t, err)
			jobs[size] = append(jobs[size], j)
		}
	}
	for _, engine := range []halo.Engine{halo.BEF, halo.Eval} {
		for i, p := range programs {
			if i%4 != 0 && (engine == halo.Eval || testing.Short()) {
				continue
			}
			t.Run(string(engine)+"/"+p.Name, func(t *testing.T) {
				r, err := jobtest.Prepare(t.Context(), p, engine)
				require.NoError(t, err)
				if r == nil {
					t.Skip("for one device")
				}
				defer r.Close()
				for size, jobs := range jobs {
					if r.Devices()%size == 0 && (size < 8 || i%3 == 0) {
						for _, err := range each(jobs, func(j *distributed.Job) error { return r.Run(t.Context(), j) }) {
							require.NoError(t, err, "%d processes", size)
						}
					}
				}
			})
		}
	}
	for _, jobs := range jobs {
		for _, err := range each(jobs, func(j *distributed.Job) error { return j.Close(0) }) {
			require.NoError(t, err)
		}
	}
}

// each calls f for all processes of a job at once.
func each(jobs []*distributed.Job, f func(*distributed.Job) error) []error {
	errs := make([]error, len(jobs))
	var wait sync.WaitGroup
	for i, j := range jobs {
		wait.Go(func() { errs[i] = f(j) })
	}
	wait.Wait()
	return errs
}

// TestCollect collects bytes of different lengths in jobs of few and of many processes, and asks for the time.
func TestCollect(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7, 8, 9, 13} {
		for _, length := range []int{0, 1, 5, 100_000} {
			for _, err := range inJobs(t, size, distributed.Options{}, func(j *distributed.Job) error {
				brings := func(rank int) string { return strings.Repeat(string(rune('a'+rank)), length*(rank%3)) }
				all, err := j.AllGather(t.Context(), "all", []byte(brings(j.Rank())))
				require.NoError(t, err)
				for rank, got := range all {
					if string(got) != brings(rank) {
						return fmt.Errorf("rank %d gets %d bytes of rank %d", j.Rank(), len(got), rank)
					}
				}
				some, err := j.Gather(t.Context(), "some", []byte(brings(j.Rank())))
				require.NoError(t, err)
				require.Equal(t, j.Rank() == 0, some != nil)
				ahead, err := j.Clock(t.Context())
				require.NoError(t, err)
				require.Less(t, ahead.Abs(), time.Minute)
				return j.Barrier(t.Context(), "end")
			}) {
				require.NoError(t, err, "%d processes, %d bytes", size, length)
			}
		}
	}
}

// TestOneExecution begins a second execution of a job before the first is over.
func TestOneExecution(t *testing.T) {
	m, err := halo.LoadBytes("m.hlo", []byte("HloModule m, num_partitions=2\n\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[16] all-gather(x), dimensions={0}, channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}\n}\n"))
	require.NoError(t, err)
	grid := devices.Grid{Replicas: 1, Partitions: 2}
	identify := func() (distributed.Identity, error) { return distributed.Identity{Module: "m", Devices: 2}, nil }
	for _, err := range inJobs(t, 2, distributed.Options{}, func(j *distributed.Job) error {
		first, err := j.NewTransport(t.Context(), m.HLO(), grid, identify)
		require.NoError(t, err)
		_, err = j.NewTransport(t.Context(), m.HLO(), grid, identify)
		require.EqualError(t, err, "the processes execute another program: a job has one execution at a time")
		first.Close()
		second, err := j.NewTransport(t.Context(), m.HLO(), grid, identify)
		require.NoError(t, err)
		second.Close()
		return nil
	}) {
		require.NoError(t, err)
	}
}

// TestAnotherIdentity runs something else in one of three processes: all of them name it, and what differs.
func TestAnotherIdentity(t *testing.T) {
	m, err := halo.LoadBytes("m.hlo", []byte("HloModule m, num_partitions=3\n\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] all-reduce(x), to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n}\n"))
	require.NoError(t, err)
	usual := distributed.Identity{Version: "halo 2", Engine: "bef", Module: "m", Program: "1", Replicas: 1, Devices: 3}
	for _, c := range []struct {
		change func(id *distributed.Identity)
		says   string
	}{
		{func(id *distributed.Identity) { id.Version = "halo 1" }, "version halo 1, not halo 2"},
		{func(id *distributed.Identity) { id.Engine = "eval" }, "engine eval, not bef"},
		{func(id *distributed.Identity) { id.Module = "n" }, "module n, not m"},
		{func(id *distributed.Identity) { id.Options = "strict" }, "options strict, not "},
		{func(id *distributed.Identity) { id.Replicas, id.Devices = 2, 6 }, "number of devices 6, not 3; number of replicas 2, not 1"},
		{func(id *distributed.Identity) { id.Program = "2" }, "another program: its text or its shapes differ"},
	} {
		for _, err := range inJobs(t, 3, distributed.Options{}, func(j *distributed.Job) error {
			_, err := j.NewTransport(t.Context(), m.HLO(), devices.Grid{Replicas: 1, Partitions: 3}, func() (distributed.Identity, error) {
				id := usual
				if j.Rank() == 1 {
					c.change(&id)
				}
				return id, nil
			})
			require.EqualError(t, err, "the processes run different programs: rank 1 has "+c.says)
			return nil
		}) {
			require.NoError(t, err)
		}
	}
}
