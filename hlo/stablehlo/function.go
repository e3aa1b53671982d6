package stablehlo

import (
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// parameters makes the parameters of a function.
func (c *comp) parameters(f *function) {
	attrs, _ := f.op.Attrs.Get("arg_attrs").(mlir.Array)
	for i := range f.body.Args {
		var own mlir.Attrs
		if i < len(attrs) {
			d, _ := attrs[i].(mlir.Dict)
			own = mlir.Attrs(d)
		}
		var loc *mlir.Location
		if i < len(f.body.ArgLocs) {
			loc = f.body.ArgLocs[i]
		}
		c.op, c.pos = f.op, c.positionOf(f.op)
		c.common = c.argumentCommon(f.op, own, loc)
		if f.name == "main" && i < len(c.o.Names) && c.o.Names[i] != "" {
			c.nameArgument(c.o.Names[i], instructionName(loc))
		}
		c.values[&f.body.Args[i]] = c.parameter(i, c.shapeOf(f.op, f.body.Args[i].Type), loc)
	}
}

// nameArgument makes a name the op_name, if there is none but the name of an instruction, which torch_xla writes.
func (c *comp) nameArgument(name, instruction string) {
	var common hlo.Common
	if c.common != nil {
		common = *c.common
	}
	var md hlo.Metadata
	if common.Metadata != nil {
		md = *common.Metadata
	}
	if md.OpName == "" || md.OpName == instruction {
		md.OpName = name
		common.Metadata = &md
		c.common = &common
	}
}

// parameter makes a parameter, called after its location, or Arg_N.
func (c *comp) parameter(i int, shape hlo.Shape, loc *mlir.Location) hlo.InstrID {
	c.name = instructionName(loc)
	if c.name == "" {
		c.name = "Arg_" + strconv.Itoa(i)
	}
	return c.add(hlo.OpParameter, shape, &hlo.ParameterAttrs{Number: int64(i)})
}

// results makes the root of a function.
func (c *comp) results(f *function) {
	end := f.body.Terminator()
	c.op, c.pos, c.common, c.name = end, c.positionOf(end), nil, ""
	ids := c.valuesOf(end.Operands)
	attrs, _ := f.op.Attrs.Get("res_attrs").(mlir.Array)
	c.root = c.rootOf(f, ids, attrs)
}

// rootOf is the result itself, or the tuple of them. Shardings of results make copies of them, as the converter does.
func (c *comp) rootOf(f *function, ids []hlo.InstrID, attrs mlir.Array) hlo.InstrID {
	shardings, any := c.resultShardings(f, len(ids), attrs)
	if any && f.name == "main" {
		return c.shardedRoot(f, ids, shardings, attrs)
	}
	if len(ids) == 1 {
		return ids[0]
	}
	return c.tuple(ids...)
}

// region makes a computation of a region: arguments are parameters in the order given, the results its root. With one result it is bare.
func (c *comp) region(r *mlir.Region, order []int) hlo.CompID {
	b := r.Block()
	inner := c.newRegion()
	for n, i := range order {
		v := &b.Args[i]
		inner.op, inner.pos = c.op, c.pos
		inner.common = nil
		if name := argLoc(b, i).OpName(); name != "" { // the name alone
			inner.common = &hlo.Common{Metadata: &hlo.Metadata{OpName: strings.TrimSuffix(name, ":")}}
		}
		inner.values[v] = inner.parameter(n, c.shapeOf(c.op, v.Type), argLoc(b, i))
	}
	inner.common = nil
	return inner.body(b)
}

func argLoc(b *mlir.Block, i int) *mlir.Location {
	if i < len(b.ArgLocs) {
		return b.ArgLocs[i]
	}
	return nil
}

// straight is the order 0, 1, 2, …
func straight(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// simpleRegion is the computation of region i, whose arguments are the parameters.
func (c *comp) simpleRegion(i int) hlo.CompID {
	r := &c.op.Regions[i]
	return c.region(r, straight(len(r.Block().Args)))
}

// newRegion begins a computation of a region.
func (c *comp) newRegion() *comp {
	inner := newComp(c.converter, "region_"+strconv.Itoa(c.regions))
	c.regions++
	inner.op, inner.pos = c.op, c.pos
	return inner
}

// body converts the operations of a block and completes the computation; more are results after those of the block.
func (c *comp) body(b *mlir.Block, more ...hlo.InstrID) hlo.CompID {
	for _, op := range b.Ops {
		c.convert(op)
	}
	end := b.Terminator()
	c.op, c.pos, c.common, c.name = end, c.positionOf(end), nil, ""
	ids := append(c.valuesOf(end.Operands), more...)
	if len(ids) == 1 {
		c.root = ids[0]
	} else {
		c.root = c.tuple(ids...)
	}
	return c.finish()
}
