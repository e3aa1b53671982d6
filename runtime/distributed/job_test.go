package distributed_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/internal/jobtest"
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
					if r.Devices()%size == 0 && (size < 8 || i%8 == 0) {
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
