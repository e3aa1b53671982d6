package lower

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/internal/idmap"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// function is one computation under one convention: first as ops on values, then as a BEF function and its plan.
type function struct {
	l    *lowering
	comp hlo.Computation
	conv convention

	values []value
	ops    []op
	stores []storage
	args   []valueID // argument leaves, parameter by parameter
	roots  []valueID // result leaves

	leaves   idmap.Map[hlo.InstrID, []valueID]
	forms    *forms
	elements map[hlo.InstrID][]int // of tuples, where the leaves of each element begin
	chains   map[hlo.InstrID]*asyncChain
	lastOps  idmap.Map[hlo.InstrID, int] // of instructions that became ops: the last one
	orders   map[hlo.InstrID][]int       // of instructions that dissolve: ops that those who use them must come after all the same
	segments *segments                   // nil if the ops run one after the other

	id         bef.FuncID
	plan       runtime.FunctionPlan
	over       []int  // by result: the argument in whose memory it may have to be, or -1; nil if there is none
	passesArg  []bool // by argument, if over is set: no result is written over it
	frameBytes int64
}

// valueID numbers the array leaves of a function in order of definition.
type valueID int

// value is one array leaf: what a register will hold.
type value struct {
	shape   hlo.Shape
	def     int   // index of the op that defines it; -1 for arguments
	lastUse int   // index of the last op that reads it; len(ops) for results of the function
	uses    []int // in functions with segments: all of them, and the definition
	store   int   // index into the plan's storages
}

// op is a kernel to be: a computing instruction, a control instruction, or a copy that the plan may find unnecessary.
type op struct {
	kernel  string
	in      hlo.Instruction // that the kernel is; zero for copies that lowering adds, and for control
	loc     bef.Location
	args    []valueID
	results []valueID
	// share lists the pairs of result and argument that may use one storage.
	share   []sharing
	callees []*function
	control *runtime.Control // its Frames and Outputs are filled in by the plan
	chain   *asyncChain      // of an async-start
	loop    bool             // a while: argument i and result i are one storage

	of      hlo.Instruction  // that it is a part of; zero for copies that the plan adds
	started *hlo.Instruction // of a done: the start of its chain, if it is in this function
	after   []int            // ops that it comes after besides those that define its arguments
}

// isCopy reports whether an op only moves an operand of its instruction to storage of its own.
func (o *op) isCopy() bool { return o.kernel == kernelCopy && o.in.IsZero() }

// sharing says that result may take over the storage of argument arg.
type sharing struct {
	result, arg int // indices into op.results and op.args
	kind        shareKind
}

type shareKind uint8

const (
	alias   shareKind = iota // the same bytes: no work at run time, even if the argument is shared
	inPlace                  // the kernel may write over the argument if that is dead afterwards
	elide                    // a copy: an alias if the argument is not needed afterwards, else a copy
)

// shareable lists which results of an instruction may use the storage of which operand leaves.
func shareable(m hlo.Module, in hlo.Instruction) (pairs []sharing) {
	for _, s := range analysis.Shareable(m, in) {
		kind := inPlace
		if s.Same {
			kind = alias
		}
		pairs = append(pairs, sharing{s.Result, s.Operand, kind})
	}
	return pairs
}

// function lowers a computation once per convention, form of its result and forms of its parameters, after its callees. The zero shape, and a
// list that ends early, stand for the plain shape.
func (l *lowering) function(ctx context.Context, id hlo.CompID, conv convention, returns hlo.Shape, params ...hlo.Shape) (*function, error) {
	comp := l.m.MustComputation(id)
	if root := comp.Root().Shape(); returns == (hlo.Shape{}) || sameForm(returns, root) {
		returns = root
	}
	key := fnKey{id, conv, formKey([]hlo.Shape{returns}), formKey(params)}
	if f := l.fns[key]; f != nil {
		return f, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := &function{l: l, comp: comp, conv: conv,
		elements: make(map[hlo.InstrID][]int), orders: make(map[hlo.InstrID][]int), forms: l.formsOf(id, params), chains: make(map[hlo.InstrID]*asyncChain),
		ops: make([]op, 0, comp.NumInstructions()), values: make([]value, 0, comp.NumInstructions())}
	for _, pid := range comp.Parameters() {
		p, _ := comp.At(pid)
		ids := f.newValues(f.form(p), -1)
		f.leaves.Set(pid, ids)
		f.args = append(f.args, ids...)
	}
	order := f.l.executionOrder(comp)
	if conv == loopBody && !comp.IsScheduled() {
		order = updatesLast(comp, order)
	}
	for _, in := range order {
		first := len(f.ops)
		if err := f.instruction(ctx, in); err != nil {
			return nil, err
		}
		f.noteOrder(in, first)
	}
	var err error
	if f.roots, err = f.as(f.leaves.Get(comp.Root().ID()), f.forms.root, returns, comp.Root().Shape(), comp.Root()); err != nil {
		return nil, err
	}
	f.findOver()
	f.settleRoots()
	f.divide()
	if err := f.makePlan(); err != nil {
		return nil, err
	}
	f.emit()
	l.fns[key] = f
	l.order = append(l.order, f)
	return f, nil
}

// noteOrder ties the ops that in became, from the first on, to in and to what must come before it though it reads nothing of it.
func (f *function) noteOrder(in hlo.Instruction, first int) {
	var after []int
	for id := range in.ControlPredecessors() {
		after = append(after, f.completes(id)...)
	}
	for i := range in.NumOperands() {
		after = append(after, f.orders[in.Operand(i)]...)
		if in.Opcode() == hlo.OpAddDependency && i > 0 {
			after = append(after, f.completes(in.Operand(i))...)
		}
	}
	for k := first; k < len(f.ops); k++ {
		f.ops[k].of, f.ops[k].after = in, after
	}
	if first < len(f.ops) {
		f.lastOps.Set(in.ID(), len(f.ops)-1)
	} else if len(after) > 0 {
		f.orders[in.ID()] = after
	}
}

// completes lists the ops with which an instruction has run.
func (f *function) completes(id hlo.InstrID) []int {
	if last, ok := f.lastOps.Lookup(id); ok {
		return []int{last}
	}
	list := f.orders[id]
	for _, v := range f.leaves.Get(id) {
		if d := f.values[v].def; d >= 0 {
			list = append(list[:len(list):len(list)], d)
		}
	}
	return list
}

// newValues makes one value for each leaf of shape, defined by op def.
func (f *function) newValues(shape hlo.Shape, def int) []valueID {
	if !shape.IsTuple() {
		f.values = append(f.values, value{shape: shape, def: def, store: -1})
		return []valueID{valueID(len(f.values) - 1)}
	}
	ids := make([]valueID, 0, shape.NumLeaves())
	for _, leaf := range shape.Leaves {
		ids = append(ids, valueID(len(f.values)))
		f.values = append(f.values, value{shape: leaf, def: def, store: -1})
	}
	return ids
}

// add appends an op whose results are the leaves of shape.
func (f *function) add(o op, shape hlo.Shape) []valueID {
	o.results = f.newValues(shape, len(f.ops))
	f.ops = append(f.ops, o)
	return o.results
}

// operandLeaves is the concatenation of the leaves of operands [from, to).
func (f *function) operandLeaves(in hlo.Instruction, from, to int) []valueID {
	var ids []valueID
	for i := from; i < to; i++ {
		ids = append(ids, f.leaves.Get(in.Operand(i))...)
	}
	return ids
}

// instruction lowers one instruction.
func (f *function) instruction(ctx context.Context, in hlo.Instruction) error {
	switch {
	case !in.Shape().IsBounded():
		return f.errorf(in, "%v has a dynamic dimension without a bound", in.Shape())
	case !in.Shape().IsStatic() && !isEvaluatedWhole(in):
		return f.errorf(in, "%v has a dynamic dimension; pass outline-dynamic was not run", in.Shape())
	}
	if rule := rules[in.Opcode()]; rule != nil {
		return rule(ctx, f, in)
	}
	return f.kernel(in)
}

// isEvaluatedWhole reports whether in may have bounded dynamic dimensions: after pass outline-dynamic, one kernel makes the program's
// results of its arguments.
func isEvaluatedWhole(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpParameter || in.Opcode() == hlo.OpFusion && hlo.AttrsOf[hlo.FusionAttrs](in).Kind == hlo.FusionCustom
}

// kernel is the default: one tensor kernel over the operands' leaves.
func (f *function) kernel(in hlo.Instruction) error {
	for o := range in.Operands() {
		if !f.isAsync(o) {
			continue
		}
		if !hlo.ForwardsAsync(in.Opcode(), in.Attrs()) {
			break // it is given the value in full
		}
		f.leaves.Set(in.ID(), f.leaves.Get(o.ID()))
		return nil
	}
	if in.Opcode() == hlo.OpCopy && !in.Shape().Compatible(in.OperandInstr(0).Shape()) {
		return f.errorf(in, "it copies %v to %v, which is a conversion", in.OperandInstr(0).Shape(), in.Shape())
	}
	args, err := f.arguments(in)
	if err != nil {
		return err
	}
	o := op{
		kernel: f.l.kernelName(in.Opcode()),
		in:     in,
		loc:    f.location(in),
		args:   args,
		share:  shareable(f.l.m, in),
	}
	f.leaves.Set(in.ID(), f.add(o, in.Shape()))
	return nil
}

// kernelName is the name of the kernel of an op.
func (l *lowering) kernelName(op hlo.Opcode) string {
	name := &l.kernelNames[op]
	if *name == "" {
		*name = "hlo." + op.String()
	}
	return *name
}

// arguments is the leaves of the operands of a kernel, asynchronous values spelled out.
func (f *function) arguments(in hlo.Instruction) (args []valueID, err error) {
	args = make([]valueID, 0, in.NumOperands())
	for o := range in.Operands() {
		leaves := f.leaves.Get(o.ID())
		if f.isAsync(o) {
			if leaves, err = f.as(leaves, f.form(o), o.Shape(), o.Shape(), in); err != nil {
				return nil, err
			}
		}
		args = append(args, leaves...)
	}
	return args, nil
}

func (f *function) location(in hlo.Instruction) bef.Location {
	loc := bef.Location{Kind: bef.NamedLocation, Name: in.Name()}
	if p := in.Position(); p.Line > 0 {
		loc.Parts = f.l.place(p)
	}
	return loc
}

// place is a position as the only part of a location. Every op has one, so they are made many at a time.
func (l *lowering) place(p hlo.Position) []bef.Location {
	if len(l.places) == 0 {
		l.places = make([]bef.Location, 16)
	}
	place := l.places[:1:1]
	l.places = l.places[1:]
	place[0] = bef.At(l.m.Config().FileName, int(p.Line), int(p.Col))
	return place
}

func (f *function) errorf(in hlo.Instruction, format string, args ...any) error {
	return &Error{Opcode: in.Opcode(), Instruction: in.Name(), File: f.l.m.Config().FileName, Position: in.Position(),
		Msg: fmt.Sprintf(format, args...)}
}
