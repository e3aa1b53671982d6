package control

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// partitions is the key of a call's configuration that says into how many parts to divide each of the outermost dimensions.
const partitions = "outer_dimension_partitions"

// costPerTask is the number of operations that a part should have: fewer are not worth a thread.
const costPerTask = 100_000

// NewParallelTasks makes the pass cpu-parallel-task-assigner.
func NewParallelTasks(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("max-parallelism"); err != nil {
		return nil, err
	}
	most, err := o.Int("max-parallelism", 8)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "cpu-parallel-task-assigner",
		Doc: `outline expensive instructions as calls, annotated with the number of their parallel parts

The call has backend_config={"outer_dimension_partitions":["N"]}. Elementwise ops and fusions that loop are divided; ops that have kernels of their own, communicate, or write in place are not.`,
		Options: o,
		Params:  []pass.Param{{Name: "max-parallelism", Doc: "parts at most; 8"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e, costs := ctx.Edit(m), pass.Fact(ctx, m, analysis.FindCosts)
			divided := dividedAlready(m)
			for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
				if divided[c.ID()] {
					continue
				}
				for in := range c.Instructions() {
					parts := outerParts(in, costs, int64(most))
					if parts == nil || !ctx.Spend("task") {
						continue
					}
					if err := outlineTask(e, e.Computation(c.ID()), in.ID(), parts); err != nil {
						return m, err
					}
					ctx.Count("tasks", 1)
				}
			}
			return e.Freeze(), nil
		},
	}, nil
}

// dividedAlready is the set of computations that are called in parts.
func dividedAlready(m hlo.Module) map[hlo.CompID]bool {
	set := map[hlo.CompID]bool{}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if common := in.Common(); in.Opcode() == hlo.OpCall && common != nil && strings.Contains(common.BackendConfig, partitions) {
				set[in.Callee(0)] = true
			}
		}
	}
	return set
}

// outerParts is into how many parts to divide each of the outermost dimensions of an instruction; nil if it should not be divided.
func outerParts(in hlo.Instruction, costs *analysis.Costs, most int64) (parts []int64) {
	t := hlo.Info(in.Opcode()).Traits
	loops := in.Opcode() == hlo.OpFusion && hlo.AttrsOf[hlo.FusionAttrs](in).Kind == hlo.FusionLoop
	if !loops && (!t.Has(hlo.TraitElementwise) && !t.Has(hlo.TraitMovesData) || t.Has(hlo.TraitInPlace) || t.Has(hlo.TraitForwards) || t.Has(hlo.TraitNullaryValue) || in.NumCallees() > 0) ||
		t.Has(hlo.TraitRandom) || t.Has(hlo.TraitSideEffect) || t.Has(hlo.TraitCollective) || in.NumOperands() == 0 || in.Opcode() == hlo.OpBitcast || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return nil
	}
	var s hlo.Shape
	static := true
	for _, leaf := range in.Shape().Leaves {
		if !s.IsValid() {
			s = leaf
		}
		static = static && leaf.IsArray() && leaf.IsStatic()
	}
	if !s.IsValid() || !static {
		return nil
	}
	k := costs.Of(in)
	tasks := min(most, (k.Flops+2*k.Transcendentals+k.Bytes/10)/costPerTask)
	l, ok := s.WithDefaultLayout().Layout()
	for i := s.Rank() - 1; ok && i >= 0 && tasks > 1; i-- {
		n := min(tasks, s.Dim(int(l.MinorToMajor[i])))
		parts = append(parts, n)
		tasks /= max(n, 1)
	}
	for _, n := range parts {
		if n > 1 {
			return parts
		}
	}
	return nil
}

// outlineTask moves an instruction into a computation, and calls that in parts.
func outlineTask(e *hlo.Editor, c hlo.CompEdit, id hlo.InstrID, parts []int64) error {
	in := c.At(id)
	at, spec := emit.Before(c, in), emit.Again(in)
	operands, name := slices.Clone(spec.Operands), in.Name()
	var params []hlo.Shape
	for _, o := range operands {
		params = append(params, at.Shape(o))
	}
	task := emit.Computation(e, "parallel_"+name, params, func(at emit.At, params []hlo.InstrID) hlo.InstrID { return at.Spec(emit.With(spec, params...)) })
	var words []string
	for _, n := range parts {
		words = append(words, fmt.Sprintf("%q", fmt.Sprint(n)))
	}
	call := at.Call(task, operands...)
	common := hlo.Common{BackendConfig: fmt.Sprintf(`{%q:[%s]}`, partitions, strings.Join(words, ","))}
	if at.Common != nil {
		common.Metadata = at.Common.Metadata
	}
	c.Instr(call).SetCommon(&common)
	return emit.Replace(c, id, call)
}
