package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

// NewScan makes the expander of scans.
func NewScan(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("expand-associative-scans"); err != nil {
		return nil, err
	}
	all, err := o.BoolOr("expand-associative-scans", true)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "scan-expander",
		Doc: `write scan as a loop over the steps

A scan of one step is its computation, without a loop.`,
		Options: o,
		Params:  []pass.Param{{Name: "expand-associative-scans", Doc: "expand scans that say that they are associative; true"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for c := range m.PostOrder() {
				for _, in := range backward(c) {
					s, ok := newScanned(ctx, m, in)
					if !ok || !all && hlo.AttrsOf[hlo.ScanAttrs](in).IsAssociative || !ctx.Spend("scan") {
						continue
					}
					ce := e.Computation(c.ID())
					if err := emit.Replace(ce, in.ID(), s.expand(emit.Before(ce, in))); err != nil {
						return m, err
					}
					ctx.Count("expanded", 1)
				}
			}
			return e.Freeze(), nil
		},
	}, nil
}

// scanned is a scan: of inputs that are sliced along an axis, carries from step to step, and outputs that are stacked along the axis.
type scanned struct {
	in      hlo.Instruction
	f       hlo.Computation
	axis    int
	steps   int64
	inputs  int // operands before the carries
	results []hlo.Shape
	reverse bool
}

func newScanned(ctx *pass.Context, m hlo.Module, in hlo.Instruction) (s scanned, ok bool) {
	if in.Opcode() != hlo.OpScan || !staticArrays(in) || pass.Fact(ctx, m, analysis.FindSideEffects).OfComputation(in.Callee(0)) {
		return s, false
	}
	a := hlo.AttrsOf[hlo.ScanAttrs](in)
	s = scanned{in: in, f: m.MustComputation(in.Callee(0)), axis: int(a.Dimensions[0]), inputs: in.NumOperands() - int(a.NumCarries), reverse: a.IsReverse, results: []hlo.Shape{in.Shape()}}
	if in.Shape().IsTuple() {
		s.results = in.Shape().Elems()
	}
	for _, r := range s.results {
		if !r.IsArray() || !r.IsStatic() {
			return s, false
		}
	}
	if s.inputs > 0 {
		s.steps = in.OperandInstr(0).Shape().Dim(s.axis)
	} else {
		s.steps = s.results[0].Dim(s.axis)
	}
	return s, true
}

// outputs is the number of results that are stacked; the carries come after them.
func (s scanned) outputs() int { return len(s.results) - (s.in.NumOperands() - s.inputs) }

// step computes one step from the slices of the inputs and the carries.
func (s scanned) step(at emit.At, args ...hlo.InstrID) []hlo.InstrID {
	copied := make(map[hlo.InstrID]hlo.InstrID, s.f.NumInstructions())
	for i, p := range s.f.Parameters() {
		copied[p] = args[i]
	}
	root := s.f.Root()
	apart := root.Opcode() == hlo.OpTuple
	for in := range s.f.PostOrder() {
		if in.Opcode() != hlo.OpParameter && !(apart && in.ID() == root.ID()) {
			copied[in.ID()] = at.Spec(control.Copy(at.C.Editor(), in, copied))
		}
	}
	var results []hlo.InstrID
	for i := range s.results {
		switch {
		case apart:
			results = append(results, copied[root.Operand(i)])
		case root.Shape().IsTuple():
			results = append(results, at.Element(copied[root.ID()], i))
		default:
			results = append(results, copied[root.ID()])
		}
	}
	return results
}

// slice is the part of an input that a step reads.
func (s scanned) slice(at emit.At, x, step hlo.InstrID) hlo.InstrID {
	dims := at.Shape(x).Dimensions()
	sizes, indices := slices.Clone(dims), s.place(at, len(dims), step)
	sizes[s.axis] = 1
	return at.Reshape(at.DynamicSlice(x, indices, sizes...), slices.Delete(slices.Clone(dims), s.axis, s.axis+1)...)
}

func (s scanned) place(at emit.At, rank int, step hlo.InstrID) []hlo.InstrID {
	indices := slices.Repeat([]hlo.InstrID{at.Int(at.Shape(step).Type(), 0)}, rank)
	indices[s.axis] = step
	return indices
}

// stacked is the result of one step as an array of one slice.
func (s scanned) stacked(at emit.At, v hlo.InstrID, whole hlo.Shape) hlo.InstrID {
	dims := slices.Clone(whole.Dimensions())
	dims[s.axis] = 1
	return at.Reshape(v, dims...)
}

func (s scanned) expand(at emit.At) hlo.InstrID {
	var values []hlo.InstrID
	switch {
	case s.steps == 0:
		for _, r := range s.results[:s.outputs()] {
			values = append(values, at.Fill(at.Constant(emit.Zero(r.Type())), r.Dimensions()...))
		}
		values = append(values, slices.Collect(s.in.OperandIDs())[s.inputs:]...)
	case s.steps == 1:
		var args []hlo.InstrID
		for i, x := range slices.Collect(s.in.OperandIDs()) {
			if i < s.inputs {
				x = at.Reshape(x, slices.Delete(slices.Clone(at.Shape(x).Dimensions()), s.axis, s.axis+1)...)
			}
			args = append(args, x)
		}
		values = s.step(at, args...)
		for i := range s.outputs() {
			values[i] = s.stacked(at, values[i], s.results[i])
		}
	default:
		values = s.loop(at)
	}
	if !s.in.Shape().IsTuple() {
		return values[0]
	}
	return at.Tuple(values...)
}

// loop steps through the axis. Its state is the number of steps done, the carries, the outputs and the inputs.
func (s scanned) loop(at emit.At) []hlo.InstrID {
	e, t := at.C.Editor(), hlo.S32
	if !holds(t, s.steps) {
		t = hlo.S64
	}
	operands := slices.Collect(s.in.OperandIDs())
	state := append([]hlo.InstrID{at.Int(t, 0)}, operands[s.inputs:]...)
	carries := len(operands) - s.inputs
	for _, r := range s.results[:s.outputs()] {
		state = append(state, at.Fill(at.Constant(emit.Zero(r.Type())), r.Dimensions()...))
	}
	state = append(state, operands[:s.inputs]...)
	init := at.Tuple(state...)
	shape := at.Shape(init)
	condition := emit.Computation(e, "scan_condition", []hlo.Shape{shape}, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		return at.Compare(hlo.LT, at.Element(params[0], 0), at.Int(t, s.steps))
	})
	body := emit.Computation(e, "scan_body", []hlo.Shape{shape}, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		next := make([]hlo.InstrID, len(state))
		for i := range next {
			next[i] = at.Element(params[0], i)
		}
		done := next[0]
		step := done
		if s.reverse {
			step = at.Binary(hlo.OpSubtract, at.Int(t, s.steps-1), done)
		}
		var args []hlo.InstrID
		for _, x := range next[1+carries+s.outputs():] {
			args = append(args, s.slice(at, x, step))
		}
		values := s.step(at, append(args, next[1:1+carries]...)...)
		next[0] = at.Binary(hlo.OpAdd, done, at.Int(t, 1))
		for i, v := range values {
			if i >= s.outputs() {
				next[1+i-s.outputs()] = v
				continue
			}
			stack := next[1+carries+i]
			next[1+carries+i] = at.DynamicUpdateSlice(stack, s.stacked(at, v, s.results[i]), s.place(at, s.results[i].Rank(), step)...)
		}
		return at.OpOf(hlo.OpTuple, shape, nil, next...)
	})
	loop := at.While(condition, body, init)
	var values []hlo.InstrID
	for i := range s.results {
		k := 1 + carries + i
		if i >= s.outputs() {
			k = 1 + i - s.outputs()
		}
		values = append(values, at.Element(loop, k))
	}
	return values
}
