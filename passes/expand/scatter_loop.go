package expand

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/passes/simplify"
)

// NewScatterExpander makes the pass scatter-expander.
func NewScatterExpander(o pass.Options) (*pass.Pass, error) {
	p := *simplify.ScatterExpander
	p.Options, p.Params = o, []pass.Param{{Name: "m", Doc: "which scatters: eliminate-simple-scatters, those of one window; eliminate-indeterministic-scatters, those whose result depends on the order of the updates; or eliminate-all-scatters; by a loop where there are several windows; simple"}}
	if err := o.Known("m"); err != nil {
		return nil, err
	}
	mode := o.Text("m", "eliminate-simple-scatters")
	p.Lent = mode == "eliminate-simple-scatters" // the loops are written while the scatter is read
	switch simple := p.Local; mode {
	case "eliminate-simple-scatters":
	case "eliminate-indeterministic-scatters":
		p.Local = func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			return loops(ctx, m, c, func(in hlo.Instruction) bool { return loopsOverScatter(m, in) && !orderIsAll(m, in) }, func(at emit.At, in hlo.Instruction) hlo.InstrID { return scatterLoop(m, at, in) })
		}
	case "eliminate-all-scatters":
		p.Local = func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			if err := loops(ctx, m, c, func(in hlo.Instruction) bool { return loopsOverScatter(m, in) }, func(at emit.At, in hlo.Instruction) hlo.InstrID { return scatterLoop(m, at, in) }); err != nil {
				return err
			}
			return simple(ctx, m, c)
		}
	default:
		return nil, fmt.Errorf("m: got %s, want eliminate-simple-scatters, eliminate-indeterministic-scatters or eliminate-all-scatters", mode)
	}
	return &p, nil
}

func loopsOverScatter(m hlo.Module, in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpScatter && staticArrays(in) && hlo.CheckBatching(in) == nil && !simplify.OneUpdate(m, in)
}

// orderIsAll reports whether a scatter has the same result in every order of its updates.
func orderIsAll(m hlo.Module, in hlo.Instruction) bool {
	a, root := hlo.AttrsOf[hlo.ScatterAttrs](in), m.MustComputation(in.Callee(0)).Root()
	if a.UniqueIndices {
		return true
	}
	if !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitFolds) || root.OperandInstr(0).Opcode() != hlo.OpParameter || root.OperandInstr(1).Opcode() != hlo.OpParameter || root.Operand(0) == root.Operand(1) {
		return false
	}
	t := in.Shape().Type()
	return !t.IsFloat() && !t.IsComplex() || root.Opcode() == hlo.OpMaximum || root.Opcode() == hlo.OpMinimum
}

func scatterLoop(m hlo.Module, at emit.At, in hlo.Instruction) hlo.InstrID {
	a, n := hlo.AttrsOf[hlo.ScatterAttrs](in), in.NumOperands()/2
	e, updates := at.C.Editor(), in.OperandInstr(n+1).Shape()
	w := &windowed{array: in.OperandInstr(0).Shape(), vector: a.IndexVectorDim, mapped: a.ScatterDimsToOperandDims, batching: a.InputBatchingDims, with: a.ScatterIndicesBatchingDims}
	w.window = windowSizes(&a, w.array, updates)
	w.fill(in.OperandInstr(n).Shape())
	state := slices.Collect(in.OperandIDs())
	if w.n == 0 || updates.NumElements() == 0 {
		if n == 1 {
			return at.OpOf(hlo.OpCopy, in.Shape(), nil, state[0])
		}
		return at.Tuple(state[:n]...)
	}
	state[n] = w.list(at, state[n])
	for i := n + 1; i < len(state); i++ {
		s := at.Shape(state[i])
		dims := []int64{w.n}
		for _, d := range a.UpdateWindowDims {
			dims = append(dims, s.Dim(int(d)))
		}
		state[i] = at.Reshape(at.Transpose(state[i], append(others(s.Rank(), a.UpdateWindowDims), a.UpdateWindowDims...)...), dims...)
	}
	combine := combiners(e, m, in)
	after := w.loop(at, "scatter", state, func(s *step, now []hlo.InstrID) []hlo.InstrID {
		at := s.at
		t := at.Shape(now[n]).Type()
		lowest, bounds := at.Fill(at.Int(t, 0), int64(len(w.window))), make([]int64, len(w.window))
		for axis, size := range w.window {
			bounds[axis] = w.array.Dim(axis) - size
		}
		start := s.start(now[n])
		index := scalars(at, start)
		within := at.Binary(hlo.OpAnd, at.Compare(hlo.LE, lowest, start), at.Compare(hlo.GE, at.Ints(t, bounds...), start))
		inside := at.Reduce(within, at.Int(hlo.PRED, 1), emit.BinaryComputation(e, hlo.OpAnd, hlo.PRED), 0)
		var args, old []hlo.InstrID
		for k := range n {
			old = append(old, at.DynamicSlice(now[k], index, w.window...))
		}
		args = append(args, old...)
		for k := range n {
			args = append(args, at.Reshape(s.rowOf(now[n+1+k]), w.window...))
		}
		next := slices.Clone(now)
		all := others(len(w.window), nil)
		for k := range n {
			made := at.Spec(hlo.InstrSpec{Opcode: hlo.OpMap, Operands: args, Callees: []hlo.CompID{combine[k]}, Attrs: &hlo.MapAttrs{Dimensions: all}})
			next[k] = at.DynamicUpdateSlice(now[k], at.Select(at.Fill(inside, w.window...), made, old[k]), index...)
		}
		return next
	})
	if n == 1 {
		return after[0]
	}
	return at.Tuple(after[:n]...)
}

// combiners are the computations of each result of a scatter's.
func combiners(e *hlo.Editor, m hlo.Module, in hlo.Instruction) []hlo.CompID {
	n := in.NumOperands() / 2
	if n == 1 && !m.MustComputation(in.Callee(0)).Root().Shape().IsTuple() {
		return []hlo.CompID{in.Callee(0)}
	}
	f := m.MustComputation(in.Callee(0))
	var params []hlo.Shape
	for _, p := range f.Parameters() {
		params = append(params, f.MustAt(p).Shape())
	}
	list := make([]hlo.CompID, n)
	for k := range list {
		list[k] = emit.Computation(e, f.Name(), params, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
			v := applied(at, f, params...)
			if f.Root().Opcode() == hlo.OpTuple {
				return at.C.At(v).Operand(k)
			}
			return at.Element(v, k)
		})
	}
	return list
}
