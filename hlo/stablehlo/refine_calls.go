package stablehlo

import (
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// customCall refines the custom calls that exports make of dynamic programs. It reports whether the operation stays.
func (b *body) customCall(op *mlir.Op) bool {
	target := stringOf(op.Attrs.Get("call_target_name"))
	switch target {
	case "shape_assertion":
		b.shapeAssertion(op)
		return false
	case "stablehlo.dynamic_reduce_window":
		b.dynamicReduceWindow(op)
		return true
	case "stablehlo.dynamic_rng_bit_generator":
		if dims, ok := knownList(op.Operands[1]); ok && len(op.Results) == 2 {
			op.Name, op.Operands = "stablehlo.rng_bit_generator", op.Operands[:1]
			op.Results[0].Type = op.Operands[0].Type
			b.setDims(op, 1, dims)
		}
		return true
	case "stablehlo.dynamic_top_k":
		if k, ok := knownScalars(op.Operands[1:2]); ok && len(op.Results) == 2 {
			op.Name, op.Operands = "chlo.top_k", op.Operands[:1]
			op.Attrs = mlir.Attrs{{Name: "k", Value: mlir.Int{Value: k[0], Type: b.m.Types.Scalar(hlo.S64)}}}
		}
		return true
	}
	b.shapeOperands(op)
	return true
}

// shapeOperands: the attribute indices_of_shape_operands names the operands that are the shapes of the results.
func (b *body) shapeOperands(op *mlir.Op) {
	indices, ok := mlir.Ints(op.Attrs.Get("indices_of_shape_operands"))
	if !ok {
		return
	}
	drop := make(map[int64]bool)
	for i, n := range indices {
		if i >= len(op.Results) || n < 0 || n >= int64(len(op.Operands)) {
			b.fail(op, "indices_of_shape_operands names operand %d for result %d", n, i)
		}
		dims, ok := knownList(op.Operands[n])
		if !ok {
			b.stillDynamic(op)
		}
		if op.Results[i].Type.Kind == mlir.Tensor {
			b.setDims(op, i, dims)
		}
		drop[n] = true
	}
	var operands []*mlir.Value
	for i, v := range op.Operands {
		if !drop[int64(i)] {
			operands = append(operands, v)
		}
	}
	op.Operands = operands
	op.Attrs = op.Attrs.Without("indices_of_shape_operands")
}

// shapeAssertion decides an assertion about shapes.
func (b *body) shapeAssertion(op *mlir.Op) {
	if len(op.Operands) == 0 {
		b.fail(op, "a shape assertion without a condition")
	}
	d, ok := known(op.Operands[0])
	if !ok || len(d.Data) == 0 {
		b.fail(op, "the condition of this shape assertion is not known before the program runs")
	}
	if d.Data[0] != 0 {
		return
	}
	b.fail(op, "%s", b.assertionText(op))
}

// assertionText is the message of an assertion: {0} is the first operand after the condition, {{ a brace.
func (b *body) assertionText(op *mlir.Op) string {
	message := stringOf(op.Attrs.Get("error_message"))
	var out strings.Builder
	for i := 0; i < len(message); i++ {
		ch := message[i]
		if i+1 < len(message) && (ch == '{' || ch == '}') && message[i+1] == ch {
			out.WriteByte(ch)
			i++
			continue
		}
		end := strings.IndexByte(message[i:], '}')
		if ch == '{' && end > 0 {
			field, _, _ := strings.Cut(message[i+1:i+end], ",")
			if n, err := strconv.Atoi(strings.TrimSpace(field)); err == nil && n >= 0 && n+1 < len(op.Operands) {
				if v, ok := knownScalars(op.Operands[n+1 : n+2]); ok {
					out.WriteString(strconv.FormatInt(v[0], 10))
				} else {
					out.WriteString("?")
				}
				i += end
				continue
			}
		}
		out.WriteByte(ch)
	}
	return out.String()
}

// dynamicReduceWindow has the numbers of its window as operands after the inputs and the initial values, and its region as a function.
func (b *body) dynamicReduceWindow(op *mlir.Op) {
	const numbers = 5
	n := len(op.Operands) - numbers
	if n < 2 || n%2 != 0 {
		b.fail(op, "'stablehlo.dynamic_reduce_window' with %d operands", len(op.Operands))
	}
	attrs := mlir.Attrs{}
	for i, name := range []string{"window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding"} {
		d, ok := known(op.Operands[n+i])
		if !ok {
			b.stillDynamic(op)
		}
		attrs = append(attrs, mlir.NamedAttr{Name: name, Value: d})
	}
	list, _ := op.Attrs.Get("called_computations").(mlir.Array)
	if len(list) != 1 {
		b.fail(op, "'stablehlo.dynamic_reduce_window' calls %d functions, want one", len(list))
	}
	f := b.converter.funcs[stringOf(list[0])]
	if f == nil || f.body == nil {
		b.fail(op, "there is no function @%s", stringOf(list[0]))
	}
	inner := &body{refiner: b.refiner, f: f, values: b.values}
	block := &mlir.Block{Args: make([]mlir.Value, len(f.body.Args))}
	for i := range block.Args {
		block.Args[i] = mlir.Value{Type: f.body.Args[i].Type, N: i}
		b.values[&f.body.Args[i]] = &block.Args[i]
	}
	inner.ops(f.body.Ops)
	block.Ops = inner.out
	end := *block.Terminator()
	end.Name = "stablehlo.return"
	block.Ops[len(block.Ops)-1] = &end
	op.Name, op.Operands, op.Attrs = "stablehlo.reduce_window", op.Operands[:n], attrs
	op.Regions = []mlir.Region{{Blocks: []*mlir.Block{block}}}
}

// bindArguments makes arguments of main whose values are known into constants, and drops tokens, which only order effects, when asked.
func (c *converter) bindArguments(main *function) {
	if len(c.o.Values) == 0 && !c.o.DropTokens {
		return
	}
	old := main.body
	block := &mlir.Block{Pos: old.Pos}
	args, _ := main.op.Attrs.Get("arg_attrs").(mlir.Array)
	results, _ := main.op.Attrs.Get("res_attrs").(mlir.Array)
	same := make(map[*mlir.Value]*mlir.Value)
	var argAttrs, resultAttrs mlir.Array
	var kept []int
	for i := range old.Args {
		t := old.Args[i].Type
		var op *mlir.Op
		switch l := c.o.Values[i]; {
		case l != nil:
			d, msg := mlir.MakeDense(t, l.Bytes())
			if msg != "" {
				c.fail(main.op, "argument %d of @%s: %s", i, main.name, msg)
			}
			op = &mlir.Op{Name: "stablehlo.constant", Attrs: mlir.Attrs{{Name: "value", Value: d}}, Pos: main.op.Pos}
		case c.o.DropTokens && t.Kind == mlir.Token:
			op = &mlir.Op{Name: "stablehlo.create_token", Pos: main.op.Pos}
		default:
			kept = append(kept, i)
			continue
		}
		op.Results = []mlir.Value{{Type: t, Def: op}}
		same[&old.Args[i]] = &op.Results[0]
		block.Ops = append(block.Ops, op)
	}
	block.Args = make([]mlir.Value, len(kept))
	var in, out []*mlir.Type
	for n, i := range kept {
		block.Args[n] = mlir.Value{Type: old.Args[i].Type, N: n}
		same[&old.Args[i]] = &block.Args[n]
		in = append(in, old.Args[i].Type)
		if i < len(old.ArgLocs) {
			block.ArgLocs = append(block.ArgLocs, old.ArgLocs[i])
		}
		if i < len(args) {
			argAttrs = append(argAttrs, args[i])
		}
	}
	for _, op := range old.Ops {
		op.Walk(func(op *mlir.Op) {
			for i, v := range op.Operands {
				if w := same[v]; w != nil {
					op.Operands = replaced(op.Operands, i, w)
				}
			}
		})
	}
	block.Ops = append(block.Ops, old.Ops...)
	end := *block.Terminator()
	end.Operands = nil
	for i, v := range block.Terminator().Operands {
		if c.o.DropTokens && v.Type.Kind == mlir.Token {
			continue
		}
		end.Operands = append(end.Operands, v)
		out = append(out, v.Type)
		if i < len(results) {
			resultAttrs = append(resultAttrs, results[i])
		}
	}
	block.Ops[len(block.Ops)-1] = &end
	main.body, main.typ = block, c.m.Types.Func(in, out)
	op := *main.op
	op.Attrs = op.Attrs.With("function_type", mlir.TypeAttr{Type: main.typ}).With("arg_attrs", argAttrs).With("res_attrs", resultAttrs)
	op.Regions = []mlir.Region{{Blocks: []*mlir.Block{block}}}
	main.op = &op
}
