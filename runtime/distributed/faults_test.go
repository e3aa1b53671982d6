package distributed_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/distributed"
)

const reduces = `HloModule sums, num_partitions=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[5] parameter(0)
  ROOT sum = f32[5] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}, to_apply=add
}
`

// execute runs a program in a job, one device in each process.
func execute(t *testing.T, j *distributed.Job, text string) error {
	m, err := halo.LoadBytes("sums", []byte(text))
	if err != nil {
		return err
	}
	p, err := halo.Compile(t.Context(), m, halo.Options{Threads: 1})
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := halo.Array([]float32{1, 2, 3, 4, 5})
	if err != nil {
		return err
	}
	x := halo.Execution{Replicas: 1, Partitions: 2, Args: make([][]*hlo.Literal, 2), Job: j}
	x.Args[j.Rank()] = []*hlo.Literal{l}
	_, err = p.Execute(t.Context(), x)
	return err
}

// TestFaults makes jobs that cannot end well. Every process gets an error that says why.
func TestFaults(t *testing.T) {
	o := distributed.Options{Timeout: 300 * time.Millisecond, Silence: 200 * time.Millisecond}
	for name, c := range map[string]struct {
		do   func(*distributed.Job) error
		want [2]string
	}{
		"another program": {func(j *distributed.Job) error {
			return execute(t, j, strings.Replace(reduces, " add(a, b)", " "+[]string{"add", "maximum"}[j.Rank()]+"(a, b)", 1))
		}, [2]string{"the processes run different programs: rank 1 has another program", "the processes run different programs: rank 1 has another program"}},
		"another name": {func(j *distributed.Job) error {
			return execute(t, j, strings.Replace(reduces, "sums", []string{"sums", "products"}[j.Rank()], 1))
		}, [2]string{"rank 1 has module products, not sums", "rank 1 has module products, not sums"}},
		"an error": {func(j *distributed.Job) error {
			if j.Rank() == 1 {
				return errors.New("this is no program")
			}
			return execute(t, j, reduces)
		}, [2]string{"rank 1 failed: exit status 1", "this is no program"}},
	} {
		t.Run(name, func(t *testing.T) {
			for rank, err := range inJobs(t, 2, o, c.do) {
				assert.ErrorContains(t, err, c.want[rank])
			}
		})
	}
}

// TestSilence is a process that stops moving messages: the other finds that it gives no sign of life. In the second case it does, but takes no part.
func TestSilence(t *testing.T) {
	for name, stopped := range map[string]bool{"rank 1 has given no sign of life": true, "rank 1: it has not begun to run the program": false} {
		t.Run(name, func(t *testing.T) {
			fab := newFabric(2)
			var jobs []*distributed.Job
			for rank := range 2 {
				j, err := distributed.Start(fab.open(rank), distributed.Options{Timeout: 2500 * time.Millisecond, Silence: 2 * time.Second})
				require.NoError(t, err)
				jobs = append(jobs, j)
			}
			fab.mu.Lock()
			fab.silent[1] = stopped
			fab.mu.Unlock()
			err := execute(t, jobs[0], reduces)
			assert.ErrorContains(t, err, name)
			for _, err := range each(jobs, func(j *distributed.Job) error { return j.Close(1) }) {
				assert.NoError(t, err)
			}
			assert.Equal(t, []int{1, 1}, fab.aborted)
		})
	}
}
