package stablehlo

import (
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// shardingConstraint is a custom call that has the sharding, in both forms.
func (c *comp) shardingConstraint(op *mlir.Op) {
	text, _ := op.Attrs.Get("sharding").(mlir.Text)
	s := c.sdySharding(op, string(text))
	c.annotate(s, "xla.sdy.sharding", perValue("["+trimSDY(string(text))+"]"))
	a := &hlo.CustomCallAttrs{Target: "Sharding", FeatureGroupCount: 1, BatchGroupCount: 1}
	c.set(c.add(hlo.OpCustomCall, c.resultShape(0), a, c.operand(0)))
}

// annotate gives the instructions that follow a sharding and frontend attributes: pairs of names and texts.
func (c *comp) annotate(s *hlo.Sharding, pairs ...string) {
	var common hlo.Common
	if c.common != nil {
		common = *c.common
	}
	common.Sharding = s
	for i := 0; i < len(pairs); i += 2 {
		common.FrontendAttributes = withFrontend(common.FrontendAttributes, pairs[i], pairs[i+1])
	}
	c.common = &common
}

// perValue is a list of shardings as an attribute of its own.
func perValue(list string) string { return enclosed("#sdy.sharding_per_value<", list) }

// enclosed is an attribute by itself, of what stands in the syntax of an operation; bytecode and the generic form have the whole.
func enclosed(name, text string) string {
	if strings.HasPrefix(text, name) {
		return text
	}
	return name + text + ">"
}

// manualComputation is a call of its region between two custom calls, which cut the values into those of a device and put them together.
func (c *comp) manualComputation(op *mlir.Op) {
	ids := c.operands()
	b := op.Regions[0].Block()
	if len(b.Args) != len(ids) {
		c.fail(op, "the region of '%s' has %d arguments for %d operands", op.Name, len(b.Args), len(ids))
	}
	axes, _ := op.Attrs.Get("manual_axes").(mlir.Text)
	in, _ := op.Attrs.Get("in_shardings").(mlir.Text)
	out, _ := op.Attrs.Get("out_shardings").(mlir.Text)
	manual := enclosed("#sdy<manual_axes", string(axes))
	body := newComp(c.converter, "xla.sdy.manual_computation_body")
	body.op, body.pos = op, c.pos
	local := make([]hlo.Shape, len(ids))
	for i := range b.Args {
		local[i] = c.shapeOf(op, b.Args[i].Type)
		body.values[&b.Args[i]] = body.parameter(i, local[i], argLoc(b, i))
	}
	callee := body.body(b)
	save := c.common
	call := func(target string, shape hlo.Shape, pairs []string, operands []hlo.InstrID) hlo.InstrID {
		c.common = save
		c.annotate(nil, pairs...)
		a := &hlo.CustomCallAttrs{Target: target, FeatureGroupCount: 1, BatchGroupCount: 1, HasSideEffect: true}
		id := c.add(hlo.OpCustomCall, shape, a, operands...)
		c.common = save
		return id
	}
	if len(ids) > 0 {
		id := call("xla.sdy.GlobalToLocalShape", bundled(local),
			[]string{"xla.sdy.in_shardings", perValue(string(in)), "xla.sdy.manual_axes", manual}, ids)
		ids = c.unbundled(id, len(ids))
	}
	c.annotate(nil, "inlineable", "false")
	result := c.e.View(callee).Root().Shape()
	id := c.addCalling(hlo.OpCall, result, &hlo.CallAttrs{}, []hlo.CompID{callee}, ids...)
	ids = c.unbundled(id, len(op.Results))
	c.common = save
	if len(op.Results) == 0 {
		return
	}
	global := make([]hlo.Shape, len(op.Results))
	for i := range global {
		global[i] = c.resultShape(i)
	}
	id = call("xla.sdy.LocalToGlobalShape", bundled(global),
		[]string{"xla.sdy.out_shardings", perValue(string(out)), "xla.sdy.manual_axes", manual}, ids)
	c.setAll(id)
}

func bundled(shapes []hlo.Shape) hlo.Shape {
	if len(shapes) == 1 {
		return shapes[0]
	}
	return hlo.MakeTuple(shapes...)
}

// unbundled is a value by itself, or the elements of a tuple.
func (c *comp) unbundled(id hlo.InstrID, n int) []hlo.InstrID {
	if n == 1 {
		return []hlo.InstrID{id}
	}
	ids := make([]hlo.InstrID, n)
	for i := range ids {
		ids[i] = c.element(id, i)
	}
	return ids
}

// namedComputation is its region in place.
func (c *comp) namedComputation(op *mlir.Op) {
	b := op.Regions[0].Block()
	if len(b.Args) != len(op.Operands) || len(b.Terminator().Operands) != len(op.Results) {
		c.fail(op, "the region of '%s' has %d arguments and %d results for %d operands and %d results", op.Name, len(b.Args),
			len(b.Terminator().Operands), len(op.Operands), len(op.Results))
	}
	for i := range b.Args {
		c.values[&b.Args[i]] = c.operand(i)
	}
	for _, inner := range b.Ops {
		c.convert(inner)
	}
	for i, v := range b.Terminator().Operands {
		c.values[&op.Results[i]] = c.value(v)
	}
}

// resultShardings are those that a function's results have; any is false when none has one.
func (c *comp) resultShardings(f *function, n int, attrs mlir.Array) (list []*hlo.Sharding, any bool) {
	list = make([]*hlo.Sharding, n)
	for i := range min(n, len(attrs)) {
		d, _ := attrs[i].(mlir.Dict)
		if s := stringOf(mlir.Attrs(d).Get("mhlo.sharding")); s != "" {
			list[i], any = c.sharding(f.op, s), true
		} else if text, ok := mlir.Attrs(d).Get("sdy.sharding").(mlir.Text); ok {
			list[i], any = c.sdySharding(f.op, string(text)), true
		}
	}
	return list, any
}

// shardedRoot makes the root of a program whose results have shardings. One result goes through a tuple to its sharding; of several, the
// tuple has the shardings of all.
func (c *comp) shardedRoot(f *function, ids []hlo.InstrID, shardings []*hlo.Sharding, attrs mlir.Array) hlo.InstrID {
	for i := range ids {
		if i >= len(attrs) {
			break
		}
		d, _ := attrs[i].(mlir.Dict)
		if text, ok := mlir.Attrs(d).Get("sdy.sharding").(mlir.Text); ok {
			c.common = nil
			c.annotate(nil, "xla.sdy.sharding", perValue("["+trimSDY(string(text))+"]"))
			a := &hlo.CustomCallAttrs{Target: "xla.sdy.FuncResultSharding", FeatureGroupCount: 1, BatchGroupCount: 1, HasSideEffect: true}
			ids[i] = c.add(hlo.OpCustomCall, c.shape(ids[i]), a, ids[i])
			c.common = nil
		}
	}
	if len(ids) == 1 {
		all := c.tuple(ids[0])
		c.annotate(shardings[0])
		root := c.add(hlo.OpGetTupleElement, c.shape(ids[0]), &hlo.TupleElementAttrs{}, all)
		c.common = nil
		return root
	}
	whole := &hlo.Sharding{Kind: hlo.ShardingTuple}
	for i, id := range ids {
		s := shardings[i]
		c.common = nil
		if s != nil {
			c.annotate(s)
		} else {
			s = &hlo.Sharding{Kind: hlo.ShardingReplicated}
		}
		c.reshape(id, c.shape(id)) // that the converter leaves behind
		whole.Elements = append(whole.Elements, s)
	}
	c.common = nil
	c.annotate(whole)
	root := c.tuple(ids...)
	c.common = nil
	return root
}

// shardingOfProto reads a serialized OpSharding.
func shardingOfProto(text string) (*hlo.Sharding, error) { return proto.DecodeSharding([]byte(text)) }
