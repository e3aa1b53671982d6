package stablehlo

import (
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// comp makes one computation of a function or region.
type comp struct {
	*converter
	b      *hlo.ComputationBuilder
	values map[*mlir.Value]hlo.InstrID
	consts map[constKey]hlo.InstrID

	// Of the operation that is being converted: what its instructions have in common.
	op     *mlir.Op
	common *hlo.Common
	name   string
	pos    hlo.Position
	root   hlo.InstrID
}

func newComp(c *converter, name string) *comp {
	return &comp{converter: c, b: c.e.NewComputation(hlo.LegalName(name)), values: make(map[*mlir.Value]hlo.InstrID),
		consts: make(map[constKey]hlo.InstrID)}
}

// constKey identifies a constant: each is made once in a computation.
type constKey struct {
	typ   *mlir.Type
	data  string
	splat bool
}

// maxShared is how many bytes a constant may have to be looked for among those before it.
const maxShared = 1 << 16

// finish completes the computation.
func (c *comp) finish() hlo.CompID { return c.b.Finish(c.root) }

// convert makes the instructions of an operation.
func (c *comp) convert(op *mlir.Op) {
	if strings.HasSuffix(op.Name, ".return") || isConstant(op) { // constants are made where they are used
		return
	}
	r := rowOf(op.Name)
	if r == nil {
		c.unknownOp(op)
	}
	c.begin(op)
	r.emit(c, op)
}

// begin makes op the operation whose instructions follow.
func (c *comp) begin(op *mlir.Op) {
	c.op, c.pos = op, c.positionOf(op)
	c.common = c.commonOf(op)
	c.name = instructionName(op.Loc)
}

// add makes an instruction of the present operation.
func (c *comp) add(op hlo.Opcode, shape hlo.Shape, attrs hlo.OpAttrs, operands ...hlo.InstrID) hlo.InstrID {
	return c.addCalling(op, shape, attrs, nil, operands...)
}

func (c *comp) addCalling(op hlo.Opcode, shape hlo.Shape, attrs hlo.OpAttrs, callees []hlo.CompID, operands ...hlo.InstrID) hlo.InstrID {
	shape = c.laidOut(op, shape, operands)
	spec := hlo.InstrSpec{
		Opcode: op, Name: c.name, Shape: shape, Operands: operands, Attrs: attrs, Common: c.common, Callees: callees, Position: c.pos,
	}
	if spec.Name == "" {
		spec.Name = op.String()
	}
	return c.b.AppendSpec(&spec)
}

// laidOut is a shape with the layout that XLA's builder gives it: operations of each element, and those that return something of the
// shape of an operand, keep the layout of that operand.
func (c *comp) laidOut(op hlo.Opcode, shape hlo.Shape, operands []hlo.InstrID) hlo.Shape {
	i := 0
	switch {
	case op == hlo.OpClamp || op == hlo.OpTriangularSolve:
		i = 1
	case hlo.Info(op).Traits&hlo.TraitElementwise != 0:
	case op == hlo.OpReverse || op == hlo.OpDynamicUpdateSlice || op == hlo.OpSort || op == hlo.OpScatter || op == hlo.OpSelectAndScatter ||
		op == hlo.OpCholesky || op == hlo.OpAllReduce || op == hlo.OpCollectivePermute || op == hlo.OpSetDimensionSize:
	default:
		return shape
	}
	if i >= len(operands) {
		return shape
	}
	if shape.IsTuple() { // one part of the result is like one operand
		parts := shape.Elems()
		changed := false
		for k := range parts {
			if k < len(operands) {
				l := likeOperand(parts[k], c.shape(operands[k]))
				changed = changed || l != parts[k]
				parts[k] = l
			}
		}
		if !changed {
			return shape
		}
		return hlo.MakeTuple(parts...)
	}
	return likeOperand(shape, c.shape(operands[i]))
}

// likeOperand is a shape with the layout of another of its rank.
func likeOperand(shape, other hlo.Shape) hlo.Shape {
	if !shape.IsArray() || !other.IsArray() || shape.Rank() != other.Rank() {
		return shape
	}
	l, ok := other.Layout()
	if !ok || l.IsDefault() {
		return shape
	}
	return shape.WithLayout(l)
}

// shape is that of an instruction of the computation.
func (c *comp) shape(id hlo.InstrID) hlo.Shape { return c.b.Shape(id) }

// operand is the instruction of operand i.
func (c *comp) operand(i int) hlo.InstrID { return c.value(c.op.Operands[i]) }

func (c *comp) value(v *mlir.Value) hlo.InstrID {
	id, ok := c.values[v]
	if !ok {
		if v.Def != nil && isConstant(v.Def) {
			return c.constantOf(v)
		}
		c.fail(c.op, "the region of '%s' uses a value from outside, which HLO cannot say", c.op.Name)
	}
	return id
}

// constantOf makes a constant at its first use, in each computation that uses it.
func (c *comp) constantOf(v *mlir.Value) hlo.InstrID {
	save := *c
	c.begin(v.Def)
	rowOf(v.Def.Name).emit(c, v.Def)
	c.op, c.common, c.name, c.pos = save.op, save.common, save.name, save.pos
	return c.values[v]
}

func (c *comp) operands() []hlo.InstrID { return c.valuesOf(c.op.Operands) }

func (c *comp) valuesOf(vs []*mlir.Value) []hlo.InstrID {
	ids := make([]hlo.InstrID, len(vs))
	for i, v := range vs {
		ids[i] = c.value(v)
	}
	return ids
}

// set makes an instruction the result of the present operation.
func (c *comp) set(id hlo.InstrID) { c.values[&c.op.Results[0]] = id }

// resultShape is the shape of result i.
func (c *comp) resultShape(i int) hlo.Shape { return c.shapeOf(c.op, c.op.Results[i].Type) }

// tupleShape is the shape of an instruction that has all results.
func (c *comp) tupleShape() hlo.Shape {
	parts := make([]hlo.Shape, len(c.op.Results))
	for i := range parts {
		parts[i] = c.resultShape(i)
	}
	return hlo.MakeTuple(parts...)
}

// allShape is the shape of an instruction that has the one result bare, or several as a tuple.
func (c *comp) allShape() hlo.Shape {
	if len(c.op.Results) == 1 {
		return c.resultShape(0)
	}
	return c.tupleShape()
}

// setAll makes the results of an instruction those of the operation: bare when there is one, else the elements of a tuple.
func (c *comp) setAll(id hlo.InstrID) {
	if len(c.op.Results) == 1 {
		c.set(id)
		return
	}
	c.setElements(id, len(c.op.Results))
}

// setElements makes the first n elements of a tuple the results.
func (c *comp) setElements(id hlo.InstrID, n int) {
	for i := range n {
		c.values[&c.op.Results[i]] = c.element(id, i)
	}
}

// element takes an element of a tuple. It has the part of the sharding that is its own.
func (c *comp) element(id hlo.InstrID, i int) hlo.InstrID {
	save := c.common
	c.common = elementCommon(save, i)
	e := c.add(hlo.OpGetTupleElement, c.shape(id).Elem(i), &hlo.TupleElementAttrs{Index: int64(i)}, id)
	c.common = save
	return e
}

func elementCommon(c *hlo.Common, i int) *hlo.Common {
	if c == nil || c.Sharding == nil || c.Sharding.Kind != hlo.ShardingTuple {
		return c
	}
	e := *c
	e.Sharding = nil
	if i < len(c.Sharding.Elements) {
		e.Sharding = c.Sharding.Elements[i]
	}
	return &e
}

// tuple makes a tuple of values.
func (c *comp) tuple(ids ...hlo.InstrID) hlo.InstrID {
	shapes := make([]hlo.Shape, len(ids))
	for i, id := range ids {
		shapes[i] = c.shape(id)
	}
	return c.add(hlo.OpTuple, hlo.MakeTuple(shapes...), nil, ids...)
}

// scalar makes a constant. It may stand for several of the program, so it is called a constant and does not say where it is from.
func (c *comp) scalar(l *hlo.Literal) hlo.InstrID {
	common, name := c.common, c.name
	c.common, c.name = nil, ""
	id := c.add(hlo.OpConstant, l.Shape(), &hlo.ConstantAttrs{Literal: l})
	c.common, c.name = common, name
	return id
}

// broadcast repeats a value over a shape; dims are the axes of the result that the axes of the operand become.
func (c *comp) broadcast(id hlo.InstrID, shape hlo.Shape, dims ...int64) hlo.InstrID {
	if dims == nil {
		dims = []int64{}
	}
	return c.add(hlo.OpBroadcast, shape, &hlo.BroadcastAttrs{Dimensions: dims}, id)
}

// reshape makes a reshape.
func (c *comp) reshape(id hlo.InstrID, shape hlo.Shape) hlo.InstrID {
	return c.add(hlo.OpReshape, shape, &hlo.ReshapeAttrs{InferredDimension: -1}, id)
}

// arrayShape is an array with the default layout.
func arrayShape(t hlo.PrimitiveType, dims ...int64) hlo.Shape {
	return hlo.MakeShape(t, dims...).WithDefaultLayout()
}

// instructionName is the part of the name of a location after the last slash, "" without one.
func instructionName(l *mlir.Location) string {
	name := strings.TrimSuffix(l.OpName(), ":")
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if name == "" {
		return ""
	}
	return hlo.LegalName(name)
}
