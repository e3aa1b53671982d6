package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/verifier"
)

// scaleTarget is a custom-call that multiplies an array of f32 by the number in its backend configuration.
const scaleTarget = "acme.scale"

// isScale reports whether an instruction is such a call, and by how much it scales.
func isScale(in hlo.Instruction) (factor float32, err error, ok bool) {
	if in.Opcode() != hlo.OpCustomCall || hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != scaleTarget {
		return 0, nil, false
	}
	config := ""
	if c := in.Common(); c != nil {
		config = c.BackendConfig
	}
	f, err := strconv.ParseFloat(config, 32)
	return float32(f), err, true
}

// scaleHasFactor is a rule of the verifier: what would fail when the program is loaded is found when it is read.
var scaleHasFactor = verifier.Extra{
	Rule: verifier.Rule{ID: "ACME-01", What: "the backend configuration of acme.scale is a number"},
	Check: func(m hlo.Module, report verifier.Report) {
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if _, err, ok := isScale(in); ok && err != nil {
					report(in, "got backend_config %q, want a number", in.Common().BackendConfig)
				}
			}
		}
	},
}

// ScaleSimplifier merges scales of scales. The product of two factors is rounded once more than the two products of an element, so it says that
// it changes rounding, and fires under --fp=fast only.
var ScaleSimplifier = &pass.Pass{
	Name: "scale-simplifier",
	Doc:  "scale(scale(x, a), b) → scale(x, a·b)",
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				outer, err, ok := isScale(in)
				if !ok || err != nil {
					continue
				}
				inner, err, ok := isScale(in.OperandInstr(0))
				if !ok || err != nil || !ctx.SpendAs("merge", pass.FastMath) {
					continue
				}
				edit := e.Computation(c.ID()).Instr(in.ID())
				edit.SetOperand(0, in.OperandInstr(0).Operand(0))
				edit.SetAttr(hlo.KeyBackendConfig, strconv.FormatFloat(float64(outer*inner), 'g', -1, 32))
			}
		}
		return e.Freeze(), nil
	},
}

// bindScale makes the kernel: once for each use, when a program is loaded.
func bindScale(b *runtime.Binding) (runtime.Bound, error) {
	if len(b.In) != 1 || len(b.Out) != 1 || b.In[0].Type != uint8(hlo.F32) || b.In[0].Bytes != b.Out[0].Bytes {
		return runtime.Bound{}, fmt.Errorf("%s takes and gives one array of f32", b.Kernel)
	}
	text, err := b.StringAttr(0)
	if err != nil {
		return runtime.Bound{}, err
	}
	factor, err := strconv.ParseFloat(text, 32)
	if err != nil {
		return runtime.Bound{}, err
	}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		scale(f.Out(0).Data, f.In(0).Data, float32(factor))
		return nil
	}}, nil
}

// evalScale is its meaning in the reference evaluator.
func evalScale(c *eval.Call) (*hlo.Literal, error) {
	factor, err, _ := isScale(c.In)
	if err != nil {
		return nil, err
	}
	x := c.Args[0]
	out := make([]byte, len(x.Bytes()))
	scale(out, x.Bytes(), factor)
	return hlo.NewLiteral(x.Shape(), out)
}

func scale(to, from []byte, factor float32) {
	for i := 0; i < len(from); i += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(from[i:]))
		binary.LittleEndian.PutUint32(to[i:], math.Float32bits(v*factor))
	}
}
