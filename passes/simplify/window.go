package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const windowDoc = `reduce-window for a sum, or another fold, of slices or of pads of one array that are shifted by equal steps

	x[0:8] + x[2:10]   → reduce-window of x[0:10], window={size=2 rhs_dilate=2}

Floating-point sums and products round otherwise, so they need a policy that allows it. x - x is 0 where a policy allows to forget that x may be infinite or NaN. On higher levels sums of floats
become dots:

	2·x + 3·y          → [x, y] · [2, 3]          level 2
	x·u + y·v + z      → [u, v, z] · [x, y, 1]    level 3, element by element`

// NewRecognizeReduceWindow makes the pass recognize-reduce-window.
func NewRecognizeReduceWindow(o pass.Options) (*pass.Pass, error) {
	const key = "optimization-level"
	if err := o.Known(key, "fp"); err != nil {
		return nil, err
	}
	policy, err := o.FP()
	if err != nil {
		return nil, err
	}
	level, err := o.Int(key, 1)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "recognize-reduce-window", Doc: windowDoc, Options: o, Params: []pass.Param{
		{Name: key, Doc: "1: windows; 2: also sums with constant weights; 3: also sums of products; 1"},
		{Name: "fp", Doc: "what it may change: strict, xla or fast; the policy of the run"}},
		Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			all := slices.Collect(m.MustComputation(c.ID()).Instructions())
			for _, in := range slices.Backward(all) {
				if !c.Has(in.ID()) || !in.Shape().IsArray() || !in.Shape().IsStatic() || in.Shape().Rank() == 0 {
					continue
				}
				if in.Opcode() == hlo.OpSubtract && in.Operand(0) == in.Operand(1) {
					if err := zeroDifference(ctx, policy, c, in); err != nil {
						return err
					}
					continue
				}
				if f, ok := findShifts(in); ok {
					if ctx.SpendUnder(policy, "window", f.class()) {
						ctx.Count("windows", 1)
						if err := emit.Replace(c, in.ID(), f.write(emit.Before(c, in))); err != nil {
							return err
						}
					}
					continue
				}
				if w, ok := findWeighted(in, level); ok && ctx.SpendUnder(policy, "dot", w.class()) {
					ctx.Count("dots", 1)
					if err := emit.Replace(c, in.ID(), w.write(emit.Before(c, in))); err != nil {
						return err
					}
				}
			}
			return nil
		}}, nil
}

func zeroDifference(ctx *pass.Context, policy pass.FP, c hlo.CompEdit, in hlo.Instruction) error {
	t, class := in.Shape().Type(), pass.Exact
	if t.IsFloat() || t.IsComplex() {
		class = pass.NotANumber
	}
	if !ctx.SpendUnder(policy, "difference", class) {
		return nil
	}
	at := emit.Before(c, in)
	ctx.Count("differences", 1)
	return emit.Replace(c, in.ID(), at.Fill(at.Constant(emit.Zero(t)), in.Shape().Dimensions()...))
}

// shifts is a fold of parts of one array that have one size. Part i is shifted by i times step along an axis.
type shifts struct {
	op    hlo.Opcode
	shape hlo.Shape // of a part, and of the result
	x     hlo.Instruction
	pad   hlo.InstrID // the value of the padding; NoInstr if the parts are slices
	first []int64     // where in the array the first part begins: below 0 if it is padded
	axis  int
	step  int64
	n     int
}

func (f *shifts) class() pass.FP {
	if t := f.shape.Type(); !t.IsFloat() && !t.IsComplex() || f.op == hlo.OpMaximum || f.op == hlo.OpMinimum {
		return pass.Exact
	}
	return pass.Rounding
}

// findShifts matches a tree of one op whose leaves are parts of one array.
func findShifts(in hlo.Instruction) (f *shifts, ok bool) {
	if !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitFolds) || in.NumOperands() != 2 || in.NumCallees() > 0 || in.Shape().Type().IsComplex() {
		return nil, false
	}
	if u, only := soleUser(in); only && u.Opcode() == in.Opcode() && u.NumOperands() == 2 && u.Operand(0) != u.Operand(1) {
		return nil, false // part of a larger tree
	}
	var leaves []hlo.Instruction
	var collect func(x hlo.Instruction, depth int) bool
	collect = func(x hlo.Instruction, depth int) bool {
		if len(leaves) > 64 || depth > 64 || x.NumControlPredecessors()+x.NumControlSuccessors() > 0 {
			return false
		}
		if x.Opcode() == in.Opcode() && (depth == 0 || x.UserCount() == 1 && !x.IsRoot()) {
			return collect(x.OperandInstr(0), depth+1) && collect(x.OperandInstr(1), depth+1)
		}
		leaves = append(leaves, x)
		return true
	}
	if !collect(in, 0) || len(leaves) < 2 {
		return nil, false
	}
	f = &shifts{op: in.Opcode(), shape: in.Shape(), pad: hlo.NoInstr, axis: -1, n: len(leaves)}
	var starts [][]int64
	for i, l := range leaves {
		start, pad, ok := partOf(l)
		if !ok || !l.Shape().EqualIgnoringLayout(in.Shape()) || i > 0 && (l.Operand(0) != f.x.ID() || pad != f.pad) {
			return nil, false
		}
		f.x, f.pad = l.OperandInstr(0), pad
		starts = append(starts, start)
	}
	slices.SortFunc(starts, slices.Compare)
	f.first = starts[0]
	for i := 1; i < len(starts); i++ {
		for d := range starts[i] {
			by := starts[i][d] - starts[i-1][d]
			if by != 0 && (f.axis >= 0 && f.axis != d || f.step != 0 && by != f.step) {
				return nil, false
			}
			if by != 0 {
				f.axis, f.step = d, by
			}
		}
		if slices.Equal(starts[i], starts[i-1]) {
			return nil, false
		}
	}
	return f, f.axis >= 0 && f.step > 0
}

// soleUser is the only user of a value.
func soleUser(in hlo.Instruction) (u hlo.Instruction, ok bool) {
	if in.UserCount() != 1 || in.IsRoot() {
		return u, false
	}
	for u = range in.Users() {
		return u, true
	}
	return u, false
}

// partOf is where a slice, or an array that is padded, begins in its operand.
func partOf(in hlo.Instruction) (start []int64, pad hlo.InstrID, ok bool) {
	if in.NumOperands() == 0 || !in.OperandInstr(0).Shape().IsStatic() {
		return nil, hlo.NoInstr, false
	}
	switch a := in.Attrs().(type) {
	case *hlo.SliceAttrs:
		for _, r := range a.Slice {
			if r.Stride != 1 {
				return nil, hlo.NoInstr, false
			}
			start = append(start, r.Start)
		}
		return start, hlo.NoInstr, true
	case *hlo.PadAttrs:
		for _, r := range a.Padding {
			if r.Interior != 0 || r.Low < 0 || r.High < 0 {
				return nil, hlo.NoInstr, false
			}
			start = append(start, -r.Low)
		}
		return start, in.Operand(1), true
	}
	return nil, hlo.NoInstr, false
}

func (f *shifts) write(at emit.At) hlo.InstrID {
	t, reach := f.shape.Type(), f.step*int64(f.n-1)
	var all hlo.InstrID
	if f.pad == hlo.NoInstr {
		limits := make([]int64, len(f.first))
		for d, from := range f.first {
			limits[d] = from + f.shape.Dim(d)
		}
		limits[f.axis] += reach
		all = at.Slice(f.x.ID(), f.first, limits)
	} else {
		padding := make([]hlo.PaddingDim, len(f.first))
		for d, from := range f.first {
			padding[d] = hlo.PaddingDim{Low: -from, High: f.shape.Dim(d) + from - f.x.Shape().Dim(d)}
		}
		padding[f.axis].High += reach
		all = at.Op(hlo.OpPad, &hlo.PadAttrs{Padding: padding}, f.x.ID(), f.pad)
	}
	w := &hlo.Window{}
	for range f.first {
		w.Dims = append(w.Dims, hlo.DefaultWindowDim(1))
	}
	w.Dims[f.axis].Size, w.Dims[f.axis].WindowDilation = int64(f.n), f.step
	return at.Spec(hlo.InstrSpec{Opcode: hlo.OpReduceWindow, Shape: f.shape.WithoutLayout(), Operands: []hlo.InstrID{all, at.Constant(identityOf(f.op, t))},
		Callees: []hlo.CompID{emit.BinaryComputation(at.C.Editor(), f.op, t)}, Attrs: &hlo.WindowAttrs{Window: w}})
}

// identityOf is the value that a fold leaves as it is.
func identityOf(op hlo.Opcode, t hlo.PrimitiveType) *hlo.Literal {
	//halo:allow opswitch identities are not in the table
	switch op {
	case hlo.OpMultiply:
		return emit.Number(t, 1)
	case hlo.OpMaximum:
		return emit.Lowest(t)
	case hlo.OpMinimum:
		return emit.Highest(t)
	case hlo.OpAnd:
		return emit.Number(t, -1)
	}
	return emit.Zero(t)
}
