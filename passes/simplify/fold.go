package simplify

import (
	"context"
	"errors"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
)

const foldingDoc = `replace instructions whose operands are all constants by their value

Broadcasts and iotas stay as they are: they say in a few bytes what a constant would spell out. Operands may be tuples of constants, and a result of
several parts becomes a tuple of constants. Calls and conditionals are evaluated with what they call, and a parameter that is the same constant in
every call is that constant. Random, asynchronous and communicating instructions, barriers, custom calls and everything with effects or control
dependencies stay, and so does what would make a constant of more than a megabyte or takes more than 64 million operations. A larger reduce-window over one
repeated value is a repeated value, too.

level=aggressive also evaluates loops that count to a constant, and what is made of broadcasts and iotas alone. float-arith=false
computes nothing with floating-point numbers, and only moves them: their last bits are then those of the machine that runs the program. is-layout-sensitive
makes no tuple of constants: a result of several parts is folded if each of its users takes one part out. Fourier transforms stay.`

var foldingParams = []pass.Param{
	{Name: "level", Doc: "default, or aggressive: loops, and what is made of broadcasts and iotas alone"},
	{Name: "float-arith", Doc: "false: compute with integers and predicates only, and move data of any type; true"},
	{Name: "is-layout-sensitive", Doc: "make no tuples of constants; false"},
	{Name: "max-bytes", Doc: "the largest constant to make; 1048576"},
	{Name: "max-elements", Doc: "the most elements of a constant to make; any number"},
	{Name: "max-ops", Doc: "the most operations to spend on one constant; 67108864"},
}

// maxLeaves bounds the shapes that are looked into: tuples of tuples can be larger than any memory.
const maxLeaves = 1 << 12

// folding is the pass with its options.
type folding struct {
	aggressive, exact, parts   bool
	maxBytes, maxElems, maxOps int
}

// NewConstantFolding makes the pass constant-folding.
func NewConstantFolding(o pass.Options) (*pass.Pass, error) {
	f := &folding{}
	if err := o.Known("level", "float-arith", "is-layout-sensitive", "max-bytes", "max-elements", "max-ops"); err != nil {
		return nil, err
	}
	var err error
	if f.parts, err = o.Bool("is-layout-sensitive"); err != nil {
		return nil, err
	}
	for _, n := range []struct {
		key string
		to  *int
		def int
	}{{"max-bytes", &f.maxBytes, 1 << 20}, {"max-elements", &f.maxElems, 1 << 62}, {"max-ops", &f.maxOps, 1 << 26}} {
		v, err := o.Int(n.key, n.def)
		if err != nil || v < 0 {
			return nil, fmt.Errorf("%s: want a number", n.key)
		}
		*n.to = v
	}
	for _, opt := range o {
		switch {
		case opt.Key == "level" && opt.Value != "default" && opt.Value != "aggressive":
			return nil, fmt.Errorf("level=%s: want default or aggressive", opt.Text())
		case opt.Key == "level":
			f.aggressive = opt.Value == "aggressive"
		case opt.Key == "float-arith" && opt.Value != "true" && opt.Value != "false":
			return nil, fmt.Errorf("float-arith=%s: want true or false", opt.Text())
		case opt.Key == "float-arith":
			f.exact = opt.Value == "false"
		}
	}
	return &pass.Pass{Name: "constant-folding", Doc: foldingDoc, Options: o, Params: foldingParams, Lent: true, Local: f.local}, nil
}

func (f *folding) local(ctx *pass.Context, m hlo.Module, ce hlo.CompEdit) error {
	effects, known := pass.Fact(ctx, m, analysis.FindSideEffects), callees{callable: pass.Fact(ctx, m, findCallable)}
	if f.exact {
		known.floating = pass.Fact(ctx, m, findFloating)
	}
	if pass.Fact(ctx, m, analysis.FindClosed).Has(ce.ID()) || ce.View().ExecutionThread() != hlo.MainThread {
		return nil
	}
	if err := useKnownArguments(ctx, m, ce); err != nil {
		return err
	}
	for in := range pass.Still(ce, becomeConstant(ce.View())) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !f.mayBeConstant(in) || !f.foldable(in, effects, known) {
			continue
		}
		if !f.fits(in.Shape()) {
			done, err := f.foldWindow(ctx, m, ce, in)
			if err != nil && ctx.Err() != nil {
				return err
			}
			if done {
				ctx.Count("instructions", 1)
			}
			continue
		}
		lit, err := f.fold(ctx, m, ce.Editor(), in)
		if err != nil && ctx.Err() == nil {
			ctx.Missed(in, "not folded: %v", err)
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil || lit == nil || !ctx.SpendOn("fold", pass.Cost{Bytes: byteSize(in.Shape())}) {
			continue
		}
		if f.parts && in.Shape().IsTuple() {
			err = placeParts(ce, in, lit)
		} else {
			err = placeConstant(ce, in, lit)
		}
		if err != nil {
			return err
		}
		ctx.Count("instructions", 1)
	}
	return nil
}

// becomeConstant lists the instructions that may be folded when their turn comes, in program order: those whose operands are constants, are made of constants, or may
// be folded before.
func becomeConstant(c hlo.Computation) (ids []hlo.InstrID) {
	const (
		late = iota // its turn has not come
		never
		may
	)
	states := make([]uint8, c.IDLimit())
	for in := range c.Instructions() {
		all := in.NumOperands() > 0
		for i := 0; all && i < in.NumOperands(); i++ {
			switch states[in.Operand(i)] {
			case late:
				all = looksConstant.Has(in.OperandInstr(i).Opcode())
			case never:
				all = false
			}
		}
		state := uint8(never)
		if op := in.Opcode(); all || op == hlo.OpConstant || op == hlo.OpIota {
			state = may
		}
		states[in.ID()] = state
		if all && !madeOfConstants.Has(in.Opcode()) {
			ids = append(ids, in.ID())
		}
	}
	return ids
}

var (
	// looksConstant are the opcodes of constants and of what says in a few bytes what a constant would spell out.
	looksConstant = hlo.OpcodesOf(hlo.OpConstant, hlo.OpTuple, hlo.OpBroadcast, hlo.OpIota)
	// madeOfConstants are those of what stays as it is, since it is made of constants already.
	madeOfConstants = hlo.OpcodesOf(hlo.OpTuple, hlo.OpGetTupleElement, hlo.OpBroadcast)
)

// mayBeConstant reports whether all operands look like constants, and one is spelt: few do, so it is asked first, before a value is computed.
func (f *folding) mayBeConstant(in hlo.Instruction) bool {
	plain := f.aggressive
	for i := range in.NumOperands() {
		switch in.OperandInstr(i).Opcode() {
		case hlo.OpConstant, hlo.OpTuple:
			plain = true
		case hlo.OpBroadcast, hlo.OpIota:
		default:
			return false
		}
	}
	return plain
}

// takenApart reports whether all uses of a tuple take one array out of it.
func takenApart(in hlo.Instruction) bool {
	for u := range in.Users() {
		if u.Opcode() != hlo.OpGetTupleElement || !u.Shape().IsArray() || u.NumControlPredecessors() > 0 || u.NumControlSuccessors() > 0 {
			return false
		}
	}
	return !in.IsRoot() && in.UserCount() > 0
}

// placeParts puts constants in the place of the parts that are taken out of a tuple, which goes.
func placeParts(ce hlo.CompEdit, in hlo.Instruction, lit *hlo.Literal) error {
	for id := range ce.Users(in.ID()) {
		u := ce.At(id)
		part, err := lit.Part(int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index)).WithShape(u.Shape())
		if err != nil {
			return err
		}
		if err := placeConstant(ce, u, part); err != nil {
			return err
		}
	}
	return ce.Remove(in.ID())
}

// placeConstant replaces an instruction by a constant, or a tuple of them.
func placeConstant(ce hlo.CompEdit, in hlo.Instruction, lit *hlo.Literal) error {
	shape, common, pos := in.Shape(), in.Common(), in.Position()
	var place func(lit *hlo.Literal, s hlo.Shape) hlo.InstrID
	place = func(lit *hlo.Literal, s hlo.Shape) hlo.InstrID {
		spec := hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: s, Position: pos}
		if s.IsTuple() {
			spec.Opcode = hlo.OpTuple
			for i := range s.NumElems() {
				spec.Operands = append(spec.Operands, place(lit.Part(i), s.Elem(i)))
			}
		} else {
			spec.Attrs = &hlo.ConstantAttrs{Literal: lit}
		}
		return ce.InsertSpecBefore(in.ID(), spec).ID()
	}
	k := place(lit, shape)
	ce.Instr(k).SetCommon(common)
	return ce.ReplaceInstruction(in.ID(), k)
}

// foldable looks at the op, and at what it calls.
func (f *folding) foldable(in hlo.Instruction, effects *analysis.SideEffects, known callees) bool {
	//halo:allow opswitch each of these is folded, or not, for a reason of its own
	switch in.Opcode() {
	case hlo.OpFft:
		return false
	case hlo.OpPad:
		if in.OperandInstr(0).Opcode() == hlo.OpBroadcast { // says in a few bytes where the padding is
			return false
		}
	case hlo.OpBitcast, hlo.OpBitcastConvert:
		// A literal gives elements narrower than a byte a byte each: bytes that are seen as others would not be those of the run.
		from, to := in.OperandInstr(0).Shape(), in.Shape()
		if from.IsArray() && to.IsArray() && from.Type().Bits() != to.Type().Bits() && min(from.Type().Bits(), to.Type().Bits()) < 8 {
			return false
		}
	case hlo.OpWhile:
		if !f.aggressive {
			return false
		}
	case hlo.OpCall:
		if hlo.AttrsOf[hlo.CallAttrs](in).IsComposite {
			return false
		}
	}
	if in.NumOperands() == 0 || !f.fits(in.Shape()) && !sameWindows(in) || effects.Of(in) || in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 ||
		hlo.Info(in.Opcode()).Traits&(neverFolded|hlo.TraitStays) != 0 || f.exact && !known.movesOrCounts(in) ||
		f.parts && in.Shape().IsTuple() && !takenApart(in) {
		return false
	}
	return known.all(in.Callees())
}

// fits reports whether a shape consists of arrays of fixed size that are no larger than constants may be.
func (f *folding) fits(s hlo.Shape) bool {
	if s.NumLeaves() > maxLeaves {
		return false
	}
	ok, n := true, int64(0)
	for _, leaf := range s.Leaves {
		ok = ok && leaf.IsArray() && leaf.IsStatic()
		if ok {
			n += leaf.NumElements()
		}
		if !ok {
			break
		}
	}
	return ok && n <= int64(f.maxElems) && byteSize(s) <= int64(f.maxBytes)
}

// byteSize is the size of the arrays of a shape.
func byteSize(s hlo.Shape) (n int64) {
	for _, leaf := range s.Leaves {
		if leaf.IsArray() {
			n += leaf.ByteSize()
		}
	}
	return n
}

// fold evaluates in if its operands are constants, as they stand in the session now; nil if they are not.
func (f *folding) fold(ctx *pass.Context, m hlo.Module, e *hlo.Editor, in hlo.Instruction) (*hlo.Literal, error) {
	operands := make([]*hlo.Literal, in.NumOperands())
	plain, bytes := f.aggressive, int64(0)
	for i := range operands {
		l, spelt, err := f.value(ctx, m, in.OperandInstr(i))
		if l == nil || err != nil {
			return nil, err
		}
		operands[i] = l
		plain = plain || spelt
		bytes += byteSize(l.Shape())
	}
	if !plain {
		return nil, nil
	}
	if most := 16 * int64(f.maxBytes); bytes > most {
		return nil, fmt.Errorf("it reads %d bytes, more than %d", bytes, most)
	}
	if n, ok := operations(ctx, m, e, in); !ok || n > int64(f.maxOps) {
		return nil, fmt.Errorf("it may take more than %d operations", f.maxOps)
	}
	if in.NumCallees() > 0 {
		m = e.ViewModule() // they may have been folded before
	}
	lit, err := eval.Instruction(ctx, m, in, operands)
	if err != nil || in.Shape().IsTuple() {
		return lit, err
	}
	return lit.WithShape(in.Shape())
}

// operations is how many a fold takes; false if that is unknown.
func operations(ctx *pass.Context, m hlo.Module, e *hlo.Editor, in hlo.Instruction) (int64, bool) {
	costs := pass.Fact(ctx, m, analysis.FindCosts)
	if in.Opcode() != hlo.OpWhile {
		c := costs.Of(in)
		return c.Flops + c.Transcendentals, !c.Unknown
	}
	l, ok := analysis.FindLoop(analysis.Now(e), in)
	round := int64(0)
	for id := range in.Callees() {
		c := costs.OfComputation(id)
		round += c.Flops + c.Transcendentals + int64(e.View(id).NumInstructions())
	}
	const many = 1 << 31
	return min(l.Trip, many) * min(round, many), ok
}

// value is the value of a constant, of a broadcast of one, of an iota, or of a tuple of these, if it is small. It is spelt if it is a constant in the
// program, or has one in it.
func (f *folding) value(ctx context.Context, m hlo.Module, in hlo.Instruction) (v *hlo.Literal, spelt bool, err error) {
	var operands []*hlo.Literal
	switch in.Opcode() {
	case hlo.OpConstant:
		if l := in.Literal(); l != nil && !l.IsElided() {
			return l, true, nil
		}
		return nil, false, nil
	case hlo.OpTuple:
		if in.Shape().NumLeaves() > maxLeaves {
			return nil, false, nil
		}
		for o := range in.Operands() {
			l, also, err := f.value(ctx, m, o)
			if l == nil || err != nil {
				return nil, false, err
			}
			operands, spelt = append(operands, l), spelt || also
		}
		return hlo.NewTupleLiteral(operands...), spelt, nil
	case hlo.OpBroadcast:
		l := in.OperandInstr(0).Literal()
		if in.OperandInstr(0).Opcode() != hlo.OpConstant || l == nil || l.IsElided() {
			return nil, false, nil
		}
		operands = append(operands, l)
	case hlo.OpIota:
	default:
		return nil, false, nil
	}
	if in.Shape().ByteSize() > int64(f.maxBytes) {
		return nil, false, nil
	}
	v, err = eval.Instruction(ctx, m, in, operands)
	return v, false, err
}
