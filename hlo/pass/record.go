package pass

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// record is what a run knows of a pass from its last execution. Places have one in common if they do the same; which value the pass is does not matter: a pipeline that is
// parsed twice has its passes twice.
type record struct {
	pass    *Pass
	fp      FP
	threads []string
	last    lastRun
	alone   bool // it gets versions
}

// lastRun is what a pass was given, and returned, when it ran last.
type lastRun struct {
	before, after stamp
	given         hlo.Module // what it was given, if that was a version; else
	chain         *chain     // of which it was given what it was at before
}

// record is that of the pass at a place, under the policy and on the threads of the run as they are now, which at a place are always the same. It is valid until the next
// one is asked for.
func (r *Runner) record(at *place) *record {
	if at.known == 0 {
		at.known = 1 + slices.IndexFunc(r.records, func(x record) bool { return x.does(at.pass, r.FP, r.threads) })
	}
	if at.known == 0 {
		if r.records == nil {
			r.records = make([]record, 0, 16) // they move once at most in most pipelines
		}
		r.records = append(r.records, record{pass: at.pass, fp: r.FP, threads: r.threads})
		at.known = len(r.records)
	}
	return &r.records[at.known-1]
}

func (x *record) does(p *Pass, fp FP, threads []string) bool {
	return x.pass.Name == p.Name && x.fp == fp && (x.pass == p || x.pass.Options.equal(p.Options)) && slices.Equal(x.threads, threads)
}

// forgetRuns makes every pass one that has not run.
func (r *Runner) forgetRuns() {
	for i := range r.records {
		r.records[i].last = lastRun{}
	}
}
