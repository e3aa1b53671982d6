package stablehlo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// Write makes StableHLO text of a module. Tuples are taken apart: each array of a parameter or result of the entry is one of the function.
// The error lists what cannot be said in StableHLO.
func Write(m hlo.Module) ([]byte, error) {
	w := &writer{m: m, types: mlir.NewTypes(), funcs: make(map[hlo.CompID]*mlir.Op), missing: make(map[string]bool)}
	out := &mlir.Module{Name: m.Name(), Types: w.types}
	i32 := w.types.Scalar(hlo.S32)
	cfg := m.Config()
	out.Attrs = mlir.Attrs{
		{Name: "mhlo.num_partitions", Value: mlir.Int{Value: max(1, cfg.NumPartitions), Type: i32}},
		{Name: "mhlo.num_replicas", Value: mlir.Int{Value: max(1, cfg.ReplicaCount), Type: i32}},
	}
	w.function(m.Entry(), "main")
	if len(w.missing) > 0 {
		list := make([]string, 0, len(w.missing))
		for s := range w.missing {
			list = append(list, s)
		}
		slices.Sort(list)
		return nil, fmt.Errorf("this cannot be written as StableHLO: %s", strings.Join(list, ", "))
	}
	out.Ops = w.order
	return mlir.Append(nil, out), nil
}

// writer makes a program of a module.
type writer struct {
	m       hlo.Module
	types   *mlir.Types
	funcs   map[hlo.CompID]*mlir.Op
	order   []*mlir.Op
	missing map[string]bool // opcodes, with what is wrong with them
}

// value is what stands for an instruction: one value, or the parts of a tuple.
type value struct {
	one   *mlir.Value
	parts []value
}

// leaves are the values of a tree.
func (v value) leaves() []*mlir.Value {
	if v.one != nil {
		return []*mlir.Value{v.one}
	}
	var all []*mlir.Value
	for _, p := range v.parts {
		all = append(all, p.leaves()...)
	}
	return all
}

// tree takes the values of a shape from a list of them.
func tree(s hlo.Shape, list []*mlir.Value) (value, []*mlir.Value) {
	if !s.IsTuple() {
		if len(list) == 0 {
			return value{}, nil
		}
		return value{one: list[0]}, list[1:]
	}
	var v value
	for _, e := range s.Elems() {
		var p value
		p, list = tree(e, list)
		v.parts = append(v.parts, p)
	}
	return v, list
}

// typ is the type of a shape that is no tuple.
func (w *writer) typ(s hlo.Shape) *mlir.Type {
	if s.IsToken() {
		return w.types.Token()
	}
	if !s.IsArray() || !s.IsStatic() || mlir.ElementName(s.Type()) == "" {
		w.missing["values of type "+s.WithoutLayout().String()] = true
		return w.types.None()
	}
	return w.types.Tensor(w.types.Scalar(s.Type()), s.Dimensions(), nil)
}

func (w *writer) leafTypes(s hlo.Shape) []*mlir.Type {
	var list []*mlir.Type
	for _, leaf := range s.Leaves {
		list = append(list, w.typ(leaf))
	}
	return list
}

// function makes a function of a computation, after those that it calls.
func (w *writer) function(c hlo.Computation, name string) *mlir.Op {
	if op := w.funcs[c.ID()]; op != nil {
		return op
	}
	b := w.body(c)
	end := b.block.Terminator()
	end.Name = "func.return"
	var in, out []*mlir.Type
	for i := range b.block.Args {
		in = append(in, b.block.Args[i].Type)
	}
	for _, v := range end.Operands {
		out = append(out, v.Type)
	}
	visibility := mlir.String("private")
	if name == "main" {
		visibility = "public"
	}
	op := &mlir.Op{Name: "func.func", Regions: []mlir.Region{{Blocks: []*mlir.Block{b.block}}}, Attrs: mlir.Attrs{
		{Name: "sym_name", Value: mlir.String(name)}, {Name: "sym_visibility", Value: visibility},
		{Name: "function_type", Value: mlir.TypeAttr{Type: w.types.Func(in, out)}},
	}}
	w.funcs[c.ID()] = op
	w.order = append(w.order, op)
	return op
}

// bodyWriter makes the operations of one computation.
type bodyWriter struct {
	*writer
	c      hlo.Computation
	block  *mlir.Block
	values map[hlo.InstrID]value
}

// body is a computation as a block whose arguments are the arrays of its parameters, and which ends in a return of those of its root.
func (w *writer) body(c hlo.Computation) *bodyWriter {
	b := &bodyWriter{writer: w, c: c, block: new(mlir.Block), values: make(map[hlo.InstrID]value)}
	var types []*mlir.Type
	for i := range c.NumParameters() {
		types = append(types, w.leafTypes(c.Parameter(i).Shape())...)
	}
	b.block.Args = make([]mlir.Value, len(types))
	list := make([]*mlir.Value, len(types))
	for i, t := range types {
		b.block.Args[i] = mlir.Value{Type: t, N: i}
		list[i] = &b.block.Args[i]
	}
	for i := range c.NumParameters() {
		p := c.Parameter(i)
		b.values[p.ID()], list = tree(p.Shape(), list)
	}
	for in := range c.PostOrder() {
		b.instruction(in)
	}
	b.add("stablehlo.return", nil, b.values[c.Root().ID()].leaves(), nil)
	return b
}

// add adds an operation; shape is that of its results, nil for none.
func (b *bodyWriter) add(name string, attrs mlir.Attrs, operands []*mlir.Value, results []*mlir.Type, regions ...mlir.Region) []*mlir.Value {
	op := &mlir.Op{Name: name, Attrs: attrs, Operands: operands, Regions: regions, Results: make([]mlir.Value, len(results))}
	out := make([]*mlir.Value, len(results))
	for i, t := range results {
		op.Results[i] = mlir.Value{Type: t, Def: op, N: i}
		out[i] = &op.Results[i]
	}
	b.block.Ops = append(b.block.Ops, op)
	return out
}

// operands are the arrays of all operands.
func (b *bodyWriter) operands(in hlo.Instruction) []*mlir.Value {
	var list []*mlir.Value
	for id := range in.OperandIDs() {
		list = append(list, b.values[id].leaves()...)
	}
	return list
}

// region is a called computation as a region.
func (b *bodyWriter) region(in hlo.Instruction, n int) mlir.Region {
	inner := b.writer.body(b.m.MustComputation(in.Callee(n)))
	return mlir.Region{Blocks: []*mlir.Block{inner.block}}
}

// instruction makes the operation of an instruction.
func (b *bodyWriter) instruction(in hlo.Instruction) {
	switch in.Opcode() {
	case hlo.OpParameter:
		return
	case hlo.OpTuple:
		var v value
		for id := range in.OperandIDs() {
			v.parts = append(v.parts, b.values[id])
		}
		b.values[in.ID()] = v
		return
	case hlo.OpGetTupleElement:
		i := hlo.AttrsOf[hlo.TupleElementAttrs](in).Index
		if parts := b.values[in.Operand(0)].parts; int(i) < len(parts) {
			b.values[in.ID()] = parts[i]
		}
		return
	case hlo.OpCopy:
		b.values[in.ID()] = b.values[in.Operand(0)]
		return
	case hlo.OpBitcast:
		if b.bitcast(in) {
			return
		}
	}
	f := writerOf(in.Opcode())
	if f == nil {
		b.missing[in.Opcode().String()] = true
		var list []*mlir.Value
		for _, t := range b.leafTypes(in.Shape()) {
			list = append(list, &mlir.Value{Type: t})
		}
		b.values[in.ID()], _ = tree(in.Shape(), list)
		return
	}
	op := f(b, in)
	if op.operands == nil {
		op.operands = b.operands(in)
	}
	results := b.add(op.name, b.common(in, op.attrs), op.operands, b.leafTypes(in.Shape()), op.regions...)
	b.values[in.ID()], _ = tree(in.Shape(), results)
}

// common adds what any operation may have.
func (b *bodyWriter) common(in hlo.Instruction, attrs mlir.Attrs) mlir.Attrs {
	c := in.Common()
	if c == nil {
		return attrs
	}
	if c.Sharding != nil {
		attrs = append(attrs, mlir.NamedAttr{Name: "mhlo.sharding", Value: mlir.String(c.Sharding.String())})
	}
	if c.FrontendAttributes != nil {
		var d mlir.Dict
		for _, e := range c.FrontendAttributes.Entries {
			d = append(d, mlir.NamedAttr{Name: e.Key, Value: mlir.String(e.Value)})
		}
		attrs = append(attrs, mlir.NamedAttr{Name: "mhlo.frontend_attributes", Value: d})
	}
	return attrs
}

// written is an operation to be made: nil operands are those of the instruction.
type written struct {
	name     string
	attrs    mlir.Attrs
	operands []*mlir.Value
	regions  []mlir.Region
}
