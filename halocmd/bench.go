package halocmd

import (
	"context"
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/distributed"
)

// slowest is the time that the slowest process took for each run.
func slowest(ctx context.Context, j *distributed.Job, runs []time.Duration) ([]time.Duration, error) {
	if j == nil {
		return runs, nil
	}
	mine, err := json.Marshal(runs)
	if err != nil {
		return nil, err
	}
	all, err := j.AllGather(ctx, "--bench", mine)
	if err != nil {
		return nil, err
	}
	for _, data := range all {
		var theirs []time.Duration
		if err := json.Unmarshal(data, &theirs); err != nil || len(theirs) != len(runs) {
			return nil, fmt.Errorf("the processes time %d and %d runs", len(runs), len(theirs))
		}
		for i, d := range theirs {
			runs[i] = max(runs[i], d)
		}
	}
	return runs, nil
}

// unwatched is the length of runs below which nothing ends one that has begun: looking for that would be a good part of a run of a few microseconds.
const unwatched = 10 * time.Millisecond

// bench times runs of a program after one to warm up; making the inputs is not part of any figure.
func (c *runCmd) bench(ctx context.Context, e *env, p *prepared, args [][]*hlo.Literal, r *record) error {
	var results [][]*hlo.Literal // of the last run; the next one writes over them
	once := func() (time.Duration, error) {
		host, err := c.Feeds.host(c, p.grid)
		if err != nil {
			return 0, err
		}
		if e.job != nil {
			if err := e.job.Barrier(ctx, "--bench"); err != nil {
				return 0, err
			}
		}
		began := time.Now()
		results, err = p.run(ctx, args, results, host)
		return time.Since(began), err
	}
	first, err := once()
	if err != nil {
		return err
	}
	outer := ctx
	if first < unwatched {
		ctx = context.WithoutCancel(ctx)
	}
	runs := make([]time.Duration, c.Bench)
	for i := range runs {
		if outer.Err() != nil {
			return outer.Err()
		}
		if runs[i], err = once(); err != nil {
			return err
		}
	}
	if runs, err = slowest(ctx, e.job, runs); err != nil {
		return err
	}
	slices.Sort(runs)
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	threads := c.threads()
	if threads == 0 {
		threads = goruntime.GOMAXPROCS(0)
	}
	t := p.Stats()
	figures := []struct {
		name  string
		value any
	}{
		{"parse_ms", ms(p.parse)}, {"passes_ms", ms(p.split + t.Passes)}, {"lower_ms", ms(t.Lower)}, {"load_ms", ms(t.Load)},
		{"first_ms", ms(first)}, {"median_ms", ms(runs[len(runs)/2])}, {"min_ms", ms(runs[0])},
		{"runs", len(runs)}, {"threads", threads}, {"arena_bytes", t.ArenaBytes}, {"peak_bytes", peakBytes()},
	}
	for _, f := range figures {
		r.add(f.name, f.value)
		if !c.JSON {
			fmt.Fprintf(e.stdout, "%-12s %v\n", f.name, f.value)
		}
	}
	return nil
}
