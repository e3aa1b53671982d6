package dots

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const mergerDoc = `merge dots that share an operand into one dot

Dots that share an operand, seen through transposes and reshapes that only add or remove dimensions of size 1, and that contract it along the same
dimensions become one: their other operands are concatenated, and their results are slices of its result. At least one of them must be small: its
operands and result together no larger than max-size-to-merge bytes. Dots that depend on each other stay apart.`

// NewMerger makes the pass dot-merger.
func NewMerger(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("max-size-to-merge"); err != nil {
		return nil, err
	}
	limit, err := o.Int("max-size-to-merge", math.MaxInt64)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "dot-merger", Doc: mergerDoc, Options: o, Params: []pass.Param{{Name: "max-size-to-merge", Doc: "the size of a small dot, in bytes; any"}},
		Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
				tried := map[hlo.InstrID]bool{}
				for {
					set := nextSet(ctx, e.View(c.ID()), int64(limit), tried)
					if len(set) < 2 || !ctx.Spend("merge") {
						break
					}
					if err := mergeDots(e.Computation(c.ID()), set); err != nil {
						return m, err
					}
					ctx.Count("dots", int64(len(set)))
				}
			}
			return e.Freeze(), nil
		}}, nil
}

// shared is a dot seen from the operand that it may share: dimensions are those of the source, without those of size 1.
type shared struct {
	dot    hlo.InstrID
	which  int // operand that is shared
	source hlo.InstrID
	// Dimensions of the source, paired with those of the other operand where they are batch or contracting.
	batch, contracting, free []int64
	otherBatch, otherContr   []int64
	otherFree                []int64
	size                     int64 // of the other operand's free dimensions
}

// nextSet finds dots to merge: the first dot that has not been tried and is like a later one, and all those.
func nextSet(ctx *pass.Context, c hlo.Computation, limit int64, tried map[hlo.InstrID]bool) []shared {
	deps, windows := analysis.FindDependencies(c), analysis.FindWindows(c)
	var all []hlo.Instruction
	for in := range c.PostOrder() {
		if isPlain(in) && in.NumControlPredecessors() == 0 && in.NumControlSuccessors() == 0 && in.Shape().NumElements() > 0 {
			all = append(all, in)
		}
	}
	for i, first := range all {
		if tried[first.ID()] {
			continue
		}
		tried[first.ID()] = true
		for which := range 2 {
			a := view(first, which)
			set := []shared{a}
			small := isSmall(first, limit)
			related := deps.Related(first.ID())
			for _, other := range all[i+1:] {
				if related[deps.Position(other.ID())] || !small && !isSmall(other, limit) {
					continue
				}
				for w := range 2 {
					if b := view(other, w); alike(ctx, first, other, a, b) {
						if windows.Narrows(first.ID(), other.ID()) {
							ctx.Missed(other, "not merged with %%%s: one would wait for a chain that only the other needs", first.Name())
							break
						}
						set = append(set, b)
						small = small || isSmall(other, limit)
						for k, r := range deps.Related(other.ID()) {
							related[k] = related[k] || r
						}
						break
					}
				}
			}
			if len(set) > 1 {
				return set
			}
		}
	}
	return nil
}

func isSmall(in hlo.Instruction, limit int64) bool {
	n := in.Shape().ByteSize()
	for o := range in.Operands() {
		n += o.Shape().ByteSize()
	}
	return n <= limit
}

// view looks at a dot from operand which.
func view(in hlo.Instruction, which int) shared {
	sides := [2]side{}
	sides[0], sides[1] = sidesOf(in)
	own, other := sides[which], sides[1-which]
	source, place := traced(in.OperandInstr(which))
	v := shared{dot: in.ID(), which: which, source: source.ID(), otherFree: other.free, size: product(in.OperandInstr(1-which).Shape(), other.free)}
	for i, d := range own.batch {
		if p := place[d]; p >= 0 {
			v.batch, v.otherBatch = append(v.batch, p), append(v.otherBatch, other.batch[i])
		}
	}
	for i, d := range own.contracting {
		if p := place[d]; p >= 0 {
			v.contracting, v.otherContr = append(v.contracting, p), append(v.otherContr, other.contracting[i])
		}
	}
	for _, d := range own.free {
		if p := place[d]; p >= 0 {
			v.free = append(v.free, p)
		}
	}
	return v
}

// traced follows transposes, and reshapes that only add or remove dimensions of size 1, and gives the place of each dimension in the
// source, -1 for those of size 1.
func traced(in hlo.Instruction) (source hlo.Instruction, place []int64) {
	place = iota(in.Shape().Rank())
	for i := range place {
		if in.Shape().Dim(i) == 1 {
			place[i] = -1
		}
	}
	for in.NumControlPredecessors() == 0 {
		var step []int64 // the dimension of the operand that each dimension of in is
		switch in.Opcode() {
		case hlo.OpTranspose:
			step = hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
		case hlo.OpReshape:
			var from, to []int64
			for d := range in.OperandInstr(0).Shape().Rank() {
				if in.OperandInstr(0).Shape().Dim(d) != 1 {
					from = append(from, int64(d))
				}
			}
			for d := range in.Shape().Rank() {
				if in.Shape().Dim(d) != 1 {
					to = append(to, int64(d))
				}
			}
			if !slices.Equal(sizes(in.OperandInstr(0).Shape(), from), sizes(in.Shape(), to)) {
				return in, place
			}
			step = make([]int64, in.Shape().Rank())
			for i, d := range to {
				step[d] = from[i]
			}
		default:
			return in, place
		}
		for i, p := range place {
			if p >= 0 {
				place[i] = step[p]
			}
		}
		in = in.OperandInstr(0)
	}
	return in, place
}

// alike reports whether two dots contract the same source in the same way.
func alike(ctx *pass.Context, x, y hlo.Instruction, a, b shared) bool {
	sorted := func(v []int64) []int64 { v = slices.Clone(v); slices.Sort(v); return v }
	p, q := x.Attrs().(*hlo.DotAttrs), y.Attrs().(*hlo.DotAttrs)
	ox, oy := x.OperandInstr(1-a.which).Shape(), y.OperandInstr(1-b.which).Shape()
	if a.source != b.source || x.Shape().Type() != y.Shape().Type() || ox.Type() != oy.Type() || p.Algorithm != q.Algorithm ||
		!slices.Equal(sorted(a.batch), sorted(b.batch)) || !slices.Equal(sorted(a.contracting), sorted(b.contracting)) || !slices.Equal(sorted(a.free), sorted(b.free)) {
		return false
	}
	t := x.Shape().Type()
	if (t.IsFloat() || t.IsComplex()) && !slices.Equal(a.contracting, b.contracting) && ctx.FP() < pass.Rounding {
		return false // sums in another order
	}
	if c := x.Common(); c != nil && c.BackendConfig != "" {
		return false
	}
	if c := y.Common(); c != nil && c.BackendConfig != "" {
		return false
	}
	return precisionOf(p, a.which, 0) == precisionOf(q, b.which, 0) && precisionOf(p, a.which, 1) == precisionOf(q, b.which, 1) &&
		(a.which == b.which || t == ox.Type() || !t.IsComplex())
}

// precisionOf is the precision of the shared operand (0) or the other (1).
func precisionOf(a *hlo.DotAttrs, which, of int) hlo.Precision {
	i := which
	if of == 1 {
		i = 1 - which
	}
	if i < len(a.Precision) {
		return a.Precision[i]
	}
	return 0
}
