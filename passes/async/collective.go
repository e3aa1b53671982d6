package async

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const collectiveDoc = `make collectives asynchronous

all-reduce, all-gather, collective-permute and copy become pairs of their own opcodes, other collectives chains of the general form. kinds=[all-reduce]
chooses some, min-bytes leaves small ones alone. Copies are made asynchronous only when kinds names them.`

var collectiveParams = []pass.Param{
	{Name: "kinds", Doc: "the opcodes to make asynchronous; all collectives, not copies"},
	{Name: "min-bytes", Doc: "the size from which it is worth it; 0"},
	{Name: "all-reduce-min-threshold-in-bytes", Doc: "the same for all-reduce alone"},
	{Name: "all-gather-min-threshold-in-bytes", Doc: "the same for all-gather alone"},
	{Name: "should-ignore-size-check", Doc: "no size is too small; false"},
	{Name: "use-generic-async-start-done", Doc: "make chains of the general form of all of them; false"},
}

// isCollective reports whether op is a collective in one step.
func isCollective(op hlo.Opcode) bool {
	t := hlo.Info(op).Traits
	return t.Has(hlo.TraitCollective) && t&(hlo.TraitAsyncStart|hlo.TraitAsyncDone) == 0
}

// NewCollectiveCreator makes the pass async-collective-creator.
func NewCollectiveCreator(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("kinds", "min-bytes", "all-reduce-min-threshold-in-bytes", "all-gather-min-threshold-in-bytes", "should-ignore-size-check", "use-generic-async-start-done"); err != nil {
		return nil, err
	}
	minBytes, err := o.Int("min-bytes", 0)
	if err != nil {
		return nil, err
	}
	least := map[hlo.Opcode]int{}
	for op, key := range map[hlo.Opcode]string{hlo.OpAllReduce: "all-reduce-min-threshold-in-bytes", hlo.OpAllGather: "all-gather-min-threshold-in-bytes"} {
		if least[op], err = o.Int(key, 0); err != nil {
			return nil, err
		}
	}
	anySize, err := o.Bool("should-ignore-size-check")
	if err != nil {
		return nil, err
	}
	generic, err := o.Bool("use-generic-async-start-done")
	if err != nil {
		return nil, err
	}
	kinds := slices.DeleteFunc(slices.Collect(hlo.Opcodes), func(op hlo.Opcode) bool { return !isCollective(op) })
	for _, opt := range o {
		if opt.Key != "kinds" {
			continue
		}
		kinds = nil
		for _, name := range append(opt.List, opt.Value) {
			op, ok := hlo.OpcodeByName(name)
			switch {
			case name == "":
			case !ok || !isCollective(op) && hlo.Info(op).Pair.Plain != op:
				return nil, fmt.Errorf("kinds: %q is no collective", name)
			default:
				kinds = append(kinds, op)
			}
		}
	}
	return &pass.Pass{Name: "async-collective-creator", Doc: collectiveDoc, Options: o, Params: collectiveParams, Makes: []pass.Phase{pass.Async}, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			for in := range c.Instructions() {
				if !slices.Contains(kinds, in.Opcode()) {
					continue
				}
				bytes, enough := bytesOf(in), int64(max(minBytes, least[in.Opcode()]))
				if bytes < enough && !anySize {
					ctx.Missed(in, "stays synchronous: it gives %d bytes, less than %d", bytes, enough)
					continue
				}
				if !ctx.Spend(in.Opcode().String()) {
					continue
				}
				ctx.Passed(in, "is begun asynchronously: it gives %d bytes, and %d are enough", bytes, enough)
				ctx.Count(in.Opcode().String(), 1)
				ce := e.Computation(c.ID())
				var err error
				if pair := hlo.Info(in.Opcode()).Pair; !pair.IsZero() && !generic {
					err = makePair(ce, in.ID(), pair)
				} else {
					_, err = begin(ce, in.ID(), hlo.MainThread)
				}
				if err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	}}, nil
}

func bytesOf(in hlo.Instruction) (n int64) {
	for _, leaf := range in.Shape().Leaves {
		if leaf.IsArray() {
			n += leaf.ByteSize()
		}
	}
	return n
}

// makePair puts a start and a done of an op's own opcodes in its place.
func makePair(ce hlo.CompEdit, id hlo.InstrID, pair hlo.Pair) error {
	in := ce.At(id)
	name, pos, shape := in.Name(), in.Position(), in.Shape()
	operands, control := slices.Collect(in.OperandIDs()), slices.Collect(in.ControlPredecessors())
	doneCommon, startCommon := handedOn(in.Common())
	if startCommon != nil && in.Common().BackendConfig != "" {
		startCommon.BackendConfig = in.Common().BackendConfig
	}
	attrs := in.Attrs()
	if f := hlo.Info(pair.Start).NewAttrs; attrs == nil && f != nil {
		attrs = f()
	}
	start := ce.InsertSpecBefore(id, hlo.InstrSpec{Opcode: pair.Start, Name: name + "-start", Shape: startShape(in, pair), Operands: operands, Attrs: attrs,
		Callees: slices.Collect(in.Callees()), Control: control, Common: startCommon, Position: pos}).ID()
	spec := hlo.InstrSpec{Opcode: pair.Done, Name: name + "-done", Shape: shape, Operands: []hlo.InstrID{start}, Common: doneCommon, Position: pos}
	if f := hlo.Info(pair.Done).NewAttrs; f != nil {
		spec.Attrs = f()
	}
	done := ce.InsertSpecBefore(id, spec).ID()
	for _, p := range control {
		ce.Instr(id).RemoveControlPredecessor(p)
	}
	return ce.ReplaceInstruction(id, done)
}

// startShape is the shape of the start that takes the place of in: the result, or a tuple of it, the operands and the context.
func startShape(in hlo.Instruction, pair hlo.Pair) hlo.Shape {
	if pair.Result == hlo.WholeResult {
		return in.Shape()
	}
	first := operandShape(in)
	if a, ok := in.Attrs().(*hlo.CollectivePermuteAttrs); ok && a.SliceSizes != nil { // in place: output and offsets follow the input
		first = in.OperandInstr(0).Shape()
	}
	parts := make([]hlo.Shape, 2+pair.Context)
	parts[pair.Result], parts[1-pair.Result] = in.Shape(), first
	for i := range pair.Context {
		parts[2+i] = hlo.MakeArray(hlo.U32, nil, nil, hlo.DefaultLayout(0))
	}
	return hlo.MakeTuple(parts...)
}

// operandShape is the shape of the operand, or of the tuple of several.
func operandShape(in hlo.Instruction) hlo.Shape {
	if in.NumOperands() == 1 {
		return in.OperandInstr(0).Shape()
	}
	var all []hlo.Shape
	for o := range in.Operands() {
		all = append(all, o.Shape())
	}
	return hlo.MakeTuple(all...)
}
