package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/directive"
)

const deduplicatorDoc = `merge equal computations

Computations are equal if they compute the same in the same way on the same thread; names, metadata and the order of the text do not count, and
callees are compared first. What a fusion fuses and an asynchronous instruction wraps belongs to it alone and stays, and so does the entry.
Passes that look into the body of a loop want to own it: this one is for the end, or for reading. With applied, it merges only what is applied to elements, as by
reduce, sort and scatter, which no pass needs to own.`

// NewComputationDeduplicator makes the pass computation-deduplicator, the inverse of [FlattenCallGraph].
func NewComputationDeduplicator(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("applied", "mark-fusion-duplications"); err != nil {
		return nil, err
	}
	applied, err := o.Bool("applied")
	if err != nil {
		return nil, err
	}
	mark, err := o.Bool("mark-fusion-duplications")
	if err != nil {
		return nil, err
	}
	p := &pass.Pass{Name: "computation-deduplicator", Doc: deduplicatorDoc, Options: o, Params: []pass.Param{
		{Name: "applied", Doc: "only computations that are applied to elements; false"},
		{Name: "mark-fusion-duplications", Doc: "merge nothing, but write the name of the first into the metadata of fusions that fuse the same; false"},
	}}
	if mark {
		p.About, p.Run = []hlo.Opcode{hlo.OpFusion}, markFusions
		return p, nil
	}
	if !applied {
		p.Breaks = []pass.Phase{pass.Flattened}
	}
	p.Run = func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		manual := directive.MayHaveManual(m)
		closed := pass.Fact(ctx, m, analysis.FindClosed)
		e := ctx.Edit(m)
		first := map[hlo.Hash][]hlo.CompID{}
		for c := range m.PostOrder() { // callees first: those of equal computations are then the same
			if closed.Has(c.ID()) || c.ID() == m.Entry().ID() || isHeld(m, c.ID(), applied, manual) {
				continue
			}
			now := e.View(c.ID())
			hash := now.Hash()
			same := slices.IndexFunc(first[hash], func(id hlo.CompID) bool { return e.View(id).Equal(now) })
			if same < 0 {
				first[hash] = append(first[hash], c.ID())
				continue
			}
			if !ctx.Spend("merge") {
				break
			}
			for caller, id := range m.Callers(c.ID()) {
				in := e.Computation(caller).Instr(id)
				for i, callee := range slices.Collect(in.View().Callees()) {
					if callee == c.ID() {
						in.SetCallee(i, first[hash][same])
					}
				}
			}
			e.RemoveComputation(c.ID())
			ctx.Count("computations", 1)
			ctx.Count("instructions", int64(c.NumInstructions()))
		}
		return e.Freeze(), nil
	}
	return p, nil
}

// markFusions writes into the metadata of fusions that fuse the same the name of the first of them, for whoever counts what is compiled.
func markFusions(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	first := map[hlo.Hash][]hlo.Instruction{}
	e := ctx.Edit(m)
	for c := range m.PostOrder() {
		for in := range c.OperandsFirst() {
			if in.Opcode() != hlo.OpFusion {
				continue
			}
			fused := m.MustComputation(in.Callee(0))
			hash := fused.Hash()
			same := slices.IndexFunc(first[hash], func(f hlo.Instruction) bool { return m.MustComputation(f.Callee(0)).Equal(fused) })
			if same < 0 {
				first[hash] = append(first[hash], in)
				continue
			}
			if !ctx.Spend("mark") {
				break
			}
			of := first[hash][same]
			setDeduplicated(e, of, of.Name())
			setDeduplicated(e, in, of.Name())
			ctx.Count("fusions", 1)
		}
	}
	return e.Freeze(), nil
}

// setDeduplicated sets deduplicated_name in the metadata of an instruction.
func setDeduplicated(e *hlo.Editor, in hlo.Instruction, name string) {
	var own hlo.Common
	if c := in.Common(); c != nil {
		own = *c
	}
	var md hlo.Metadata
	if own.Metadata != nil {
		md = *own.Metadata
	}
	md.DeduplicatedName = name
	own.Metadata = &md
	e.Computation(in.Computation().ID()).Instr(in.ID()).SetCommon(&own)
}

// isHeld reports whether a computation stays what it is for the sake of one that calls it: the body of a manual computation, since equal ones may be of different
// axes, what a collective folds with, as XLA keeps it, and, with applied, what an instruction runs as such.
func isHeld(m hlo.Module, id hlo.CompID, applied, manual bool) bool {
	for caller, at := range m.Callers(id) {
		in := m.MustComputation(caller).MustAt(at)
		if op := in.Opcode(); applied && runs(op) || hlo.Info(op).Traits.Has(hlo.TraitCollective) || manual && op == hlo.OpCall && directive.IsManualBody(m, in) {
			return true
		}
	}
	return false
}

// runs reports whether an instruction runs what it calls as such: a call, a loop, a branch, or what nothing but a custom call can tell.
func runs(op hlo.Opcode) bool {
	return hlo.Info(op).Traits.Has(hlo.TraitControl) || op == hlo.OpCustomCall
}
