package stablehlo

import (
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/internal/spelling"
)

// checkProgram looks at every operation: whether it is known, how many operands it has, and whether calls are of functions that are there.
func (c *converter) checkProgram() {
	for _, op := range c.m.Ops {
		f := c.functionOf(op)
		if f == nil || f.body == nil {
			continue
		}
		for _, inner := range f.body.Ops {
			inner.Walk(c.checkOp)
		}
	}
}

func (c *converter) checkOp(op *mlir.Op) {
	r := rowOf(op.Name)
	if r == nil {
		c.unknownOp(op)
	}
	if n := len(op.Operands); n < r.min || r.max >= 0 && n > r.max {
		want := plural(r.min)
		if r.max < 0 {
			want = "at least " + want
		} else if r.max > r.min {
			want = "at most " + plural(r.max)
		}
		c.fail(op, "'%s' with %d operands, want %s", op.Name, n, want)
	}
	if n := len(op.Regions); n < r.regions && !(op.Name == "stablehlo.case") {
		c.fail(op, "'%s' with %d regions, want %d", op.Name, n, r.regions)
	}
	if r.results >= 0 && len(op.Results) != r.results {
		c.fail(op, "'%s' with %d results, want %d", op.Name, len(op.Results), r.results)
	}
	for i := range op.Regions {
		b := op.Regions[i].Block()
		if b == nil {
			c.fail(op, "a region of '%s' with %d blocks: unstructured control flow is not StableHLO", op.Name, len(op.Regions[i].Blocks))
		}
		if t := b.Terminator(); t == nil || !strings.HasSuffix(t.Name, ".return") && t.Name != "shape.assuming_yield" {
			c.fail(op, "a region of '%s' does not end in a return", op.Name)
		}
	}
	if op.Name == "func.call" {
		c.checkCall(op)
	}
	if op.Name == "stablehlo.while" || op.Name == "mhlo.while" {
		c.checkWhile(op)
	}
}

func (c *converter) checkCall(op *mlir.Op) {
	name := symbolOf(op.Attrs.Get("callee"))
	f := c.funcs[name]
	if f == nil {
		c.failHint(op, c.funcMeant(name), "a call of @%s, and there is no such function", name)
	}
	if f.body == nil {
		c.fail(op, "a call of @%s, which is only declared: it has no body", name)
	}
	if len(op.Operands) != len(f.typ.Parts) || len(op.Results) != len(f.typ.Out) {
		c.fail(op, "a call of @%s with %d operands and %d results, it has %d and %d", name, len(op.Operands), len(op.Results),
			len(f.typ.Parts), len(f.typ.Out))
	}
	for i, v := range op.Operands {
		if v.Type != f.typ.Parts[i] {
			c.fail(op, "operand %d of the call of @%s is %v, the function takes %v", i, name, v.Type, f.typ.Parts[i])
		}
	}
	for i := range op.Results {
		if op.Results[i].Type != f.typ.Out[i] {
			c.fail(op, "result %d of the call of @%s is %v, the function gives %v", i, name, op.Results[i].Type, f.typ.Out[i])
		}
	}
}

// funcMeant asks for the function that was meant by a name.
func (c *converter) funcMeant(name string) string {
	if near := spelling.Nearest(name, slices.Sorted(maps.Keys(c.funcs))); near != "" {
		return "did you mean @" + near + "?"
	}
	return ""
}

func (c *converter) checkWhile(op *mlir.Op) {
	if len(op.Operands) != len(op.Results) {
		c.fail(op, "'%s' has %d operands and %d results", op.Name, len(op.Operands), len(op.Results))
	}
	for i := range op.Regions {
		b := op.Regions[i].Block()
		if len(b.Args) != len(op.Operands) {
			c.fail(op, "a region of '%s' has %d arguments, the loop has %d values", op.Name, len(b.Args), len(op.Operands))
		}
	}
	cond := op.Regions[0].Block().Terminator()
	if len(cond.Operands) != 1 || cond.Operands[0].Type.Kind != mlir.Tensor || cond.Operands[0].Type.Elem != hlo.PRED {
		c.fail(op, "the condition of '%s' does not return one i1", op.Name)
	}
	if body := op.Regions[1].Block().Terminator(); len(body.Operands) != len(op.Operands) {
		c.fail(body, "the body of '%s' returns %d values, the loop has %d", op.Name, len(body.Operands), len(op.Operands))
	}
}

func (c *converter) unknownOp(op *mlir.Op) {
	dialect := op.Dialect()
	switch {
	case dialect == "cf":
		c.fail(op, "'%s': unstructured control flow is not StableHLO", op.Name)
	case op.Name == "mhlo.unknown":
		c.failHint(op, "take the program as HLO, which has it; a reshape to sizes that are computed is such an instruction",
			"'%s' stands for an instruction of HLO that XLA did not write as StableHLO", op.Name)
	case isKnownDialect(dialect):
		if near := nearestRow(op.Name); near != "" {
			c.failHint(op, "did you mean '"+near+"'?", "'%s' is unknown", op.Name)
		}
		c.fail(op, "'%s' is unknown", op.Name)
	}
	c.failHint(op, "read are the dialects "+mlir.Dialects, "'%s' is of the dialect %s, which is not read", op.Name, dialect)
}
