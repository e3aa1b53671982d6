package legalize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// OldCallRewriter writes custom calls of older JAX and XLA as what is written today.
var OldCallRewriter = &pass.Pass{
	Name: "old-call-rewriter",
	Doc: `write the custom calls of older JAX and XLA as what is written today

In JAX 0.4.13 to 0.4.30 LAPACK, and to 0.4.35 BLAS, took sizes and choices as operands, and gave workspaces as results; today's calls have attributes for the choices:

	(A, s32[]) lapack_spotrf(lower, batch, n, a)  → lapack_spotrf_ffi(a), {uplo = 76}

What was a workspace is zero. A Fourier transform was a call of dynamic_ducc_fft, whose descriptor says the type, the axes and the direction; it becomes fft.
In optimised modules of JAX 0.4.30 products and softmax are calls of oneDNN, with what is fused to them in the configuration; they become dot and elementwise ops. Calls whose choices
are no constants, and products with weights in oneDNN's own order, stay.`,
	About: []hlo.Opcode{hlo.OpCustomCall},
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpCustomCall {
					continue
				}
				call, ok := newCall(in)
				if !ok || !ctx.Spend("call") {
					continue
				}
				if err := call(e.Computation(c.ID())); err != nil {
					return m, err
				}
				ctx.Count("calls", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// rewriting writes a call anew.
type rewriting func(hlo.CompEdit) error

// newCall is how a call is written today; false if it is none of those that are known, or is so already.
func newCall(in hlo.Instruction) (rewriting, bool) {
	target := hlo.AttrsOf[hlo.CustomCallAttrs](in).Target
	switch {
	case target == "dynamic_ducc_fft":
		return newTransform(in)
	case strings.HasPrefix(target, "__onednn$"):
		return newOneDNN(in, target)
	}
	library, name, ok := strings.Cut(target, "_")
	if !ok || len(name) < 2 || strings.IndexByte("sdcz", name[0]) < 0 {
		return nil, false
	}
	isComplex := name[0] == 'c' || name[0] == 'z'
	o, ok := oldRoutines[name[1:]]
	if !ok || library != o.library || in.NumOperands() != o.scalars+o.arrays {
		return nil, false
	}
	config, ok := o.config(choices{in})
	if !ok {
		return nil, false
	}
	results := o.results
	if isComplex && o.complexResults != nil {
		results = o.complexResults
	}
	shape, ok := todaysShape(in.Shape(), results)
	if !ok {
		return nil, false
	}
	return func(c hlo.CompEdit) error {
		now, old := c.At(in.ID()), in.Shape() // operands may have been written anew
		at := emit.Before(c, now)
		var operands []hlo.InstrID
		for i := range o.arrays {
			operands = append(operands, now.Operand(o.scalars+i))
		}
		common := hlo.Common{}
		if handed := emit.HandedOn(in.Common()); handed != nil {
			common = *handed
		}
		common.BackendConfig = "{" + config + "}"
		v := at.Spec(hlo.InstrSpec{
			Opcode: hlo.OpCustomCall, Shape: shape, Operands: operands, Common: &common,
			Attrs: &hlo.CustomCallAttrs{Target: "lapack_" + name + "_ffi", FeatureGroupCount: 1, BatchGroupCount: 1, APIVersion: hlo.APITypedFFI},
		})
		if !old.IsTuple() {
			return emit.Forward(c, in.ID(), v)
		}
		parts := make([]hlo.InstrID, old.NumElems())
		for i, s := range old.Elems() {
			switch {
			case i >= len(results) || results[i] < 0: // a workspace, or a report of success
				parts[i] = at.OpOf(hlo.OpBroadcast, s, &hlo.BroadcastAttrs{}, at.Constant(emit.Zero(s.Type())))
			case !shape.IsTuple():
				parts[i] = v
			default:
				parts[i] = at.Element(v, results[i])
			}
		}
		return emit.Forward(c, in.ID(), at.Tuple(parts...))
	}, true
}

// todaysShape is made of those results of the old call that there are still.
func todaysShape(old hlo.Shape, results []int) (hlo.Shape, bool) {
	if !old.IsTuple() {
		return old, len(results) == 1 && old.IsArray()
	}
	n := 1 + slices.Max(results)
	if old.NumElems() < len(results) || slices.ContainsFunc(old.Elems(), func(s hlo.Shape) bool { return !s.IsArray() || !s.IsStatic() }) {
		return hlo.Shape{}, false
	}
	parts := make([]hlo.Shape, n)
	for i, r := range results {
		if r >= 0 {
			parts[r] = old.Elem(i)
		}
	}
	if n == 1 {
		return parts[0], true
	}
	return hlo.MakeTuple(parts...), true
}

// oldRoutine is how a routine was called: scalars first, arrays behind them.
type oldRoutine struct {
	library         string
	scalars, arrays int
	results         []int // which of today's results each of the old ones is, -1 for what there is no more
	complexResults  []int // if these differ
	config          func(choices) (string, bool)
}

var oldRoutines = map[string]oldRoutine{
	"trsm": {"blas", 8, 2, []int{0}, nil, func(c choices) (string, bool) { // left, lower, transposed, unit, m, n, batch, alpha
		return c.all(c.is(7, 1), c.letter("side", 0, "RL"), c.letter("uplo", 1, "UL"), c.letter("trans_x", 2, "NTC"), c.letter("diag", 3, "NU"))
	}},
	"potrf": {"lapack", 3, 1, []int{0, 1}, nil, func(c choices) (string, bool) { return c.all(c.letter("uplo", 0, "UL")) }}, // lower, batch, n
	"getrf": {"lapack", 3, 1, []int{0, 1, 2}, nil, choices.none},                                                            // batch, m, n
	"geqrf": {"lapack", 4, 1, []int{0, 1}, nil, choices.none},                                                               // batch, m, n, workspace
	"orgqr": {"lapack", 5, 2, []int{0}, nil, choices.none},                                                                  // batch, m, n, k, workspace
	"ungqr": {"lapack", 5, 2, []int{0}, nil, choices.none},
	"gesdd": {"lapack", 6, 1, []int{0, 1, 2, 3, 4}, nil, func(c choices) (string, bool) { // full, vectors, batch, m, n, workspace
		full, known := c.number(0)
		vectors, alsoKnown := c.number(1)
		mode := 'S'
		if vectors == 0 {
			mode = 'N'
		} else if full != 0 {
			mode = 'A'
		}
		return fmt.Sprintf("mode = %d : ui8", mode), known && alsoKnown
	}},
	"syevd": {"lapack", 3, 1, []int{0, 1, 2}, nil, eigenvectors}, // lower, batch, n
	"heevd": {"lapack", 3, 1, []int{0, 1, 2}, nil, eigenvectors},
	"geev":  {"lapack", 4, 1, []int{-1, -1, -1, 0, 1, 2, 3, 4}, []int{-1, -1, 0, 1, 2, 3}, choices.none}, // batch, n, left, right
	"gees": {"lapack", 4, 1, []int{0, 2, 3, 1, 4, 5}, []int{0, -1, 2, 1, 3, 4}, func(c choices) (string, bool) { // batch, n, vectors, sort
		return c.all(c.number8("mode", 2), c.number8("sort", 3))
	}},
	"gehrd": {"lapack", 6, 1, []int{0, 1, 2}, nil, func(c choices) (string, bool) { // n, low, high, stride, batch, workspace
		return c.all(c.number32("low", 1), c.number32("high", 2))
	}},
	"sytrd": {"lapack", 5, 1, []int{0, 1, 2, 3, 4}, nil, tridiagonal}, // n, lower, stride, batch, workspace
	"hetrd": {"lapack", 5, 1, []int{0, 1, 2, 3, 4}, nil, tridiagonal},
}

func eigenvectors(c choices) (string, bool) {
	return c.all("mode = 86 : ui8", c.letter("uplo", 0, "UL"))
}

func tridiagonal(c choices) (string, bool) { return c.all(c.letter("uplo", 1, "UL")) }

// choices reads the scalars of a call. An entry that is not known is "".
type choices struct{ in hlo.Instruction }

func (c choices) none() (string, bool) { return "", true }

// number is scalar i, if it is an integer constant.
func (c choices) number(i int) (int64, bool) {
	in := c.in.OperandInstr(i)
	if in.Opcode() != hlo.OpConstant {
		return 0, false
	}
	return hlo.AttrsOf[hlo.ConstantAttrs](in).Literal.ScalarInt()
}

// letter is an entry with the letter that a number chooses.
func (c choices) letter(key string, i int, letters string) string {
	if n, ok := c.number(i); ok && n >= 0 && n < int64(len(letters)) {
		return fmt.Sprintf("%s = %d : ui8", key, letters[n])
	}
	return ""
}

func (c choices) number8(key string, i int) string  { return c.entry(key, i, "ui8") }
func (c choices) number32(key string, i int) string { return c.entry(key, i, "i32") }

func (c choices) entry(key string, i int, t string) string {
	if n, ok := c.number(i); ok {
		return fmt.Sprintf("%s = %d : %s", key, n, t)
	}
	return ""
}

// is is an entry without text if scalar i is a floating-point constant of that value.
func (c choices) is(i int, v float64) string {
	in := c.in.OperandInstr(i)
	if in.Opcode() == hlo.OpConstant && in.Shape().Rank() == 0 && hlo.AttrsOf[hlo.ConstantAttrs](in).Literal.Equal(emit.Real(in.Shape().Type(), v)) {
		return " "
	}
	return ""
}

// all joins entries; it is false if one is not known.
func (c choices) all(entries ...string) (string, bool) {
	if slices.Contains(entries, "") {
		return "", false
	}
	return strings.Join(slices.DeleteFunc(entries, func(s string) bool { return s == " " }), ", "), true
}
