package halocmd

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// excessPasses keep in f32 what a chain of bf16 operations would round between them, as XLA does on GPU and TPU by default.
const excessPasses = "float-normalization,simplify-fp-conversions{fp=xla},dce"

// withPrecision is the module as --xla_allow_excess_precision has it, for both engines.
func (c *runCmd) withPrecision(ctx context.Context, in *input, m halo.Module) (halo.Module, error) {
	c.narrow = roundsOften(m.HLO())
	if !c.ExcessPrecision || !c.narrow {
		return m, nil
	}
	pipeline, err := catalogue.Parse(excessPasses)
	if err != nil {
		return m, err
	}
	out, err := (&pass.Runner{}).Run(ctx, pipeline, m.HLO())
	if err != nil {
		return m, fmt.Errorf("%s: error: %w", in.name, err)
	}
	return halo.Trust(out), nil
}

// roundsOften reports whether a module computes in a type narrower than f32.
func roundsOften(m hlo.Module) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if s := in.Shape(); in.Opcode() != hlo.OpParameter && s.IsArray() && s.Type().IsFloat() && s.Type().Bits() < 32 {
				return true
			}
		}
	}
	return false
}

// magnitude is the largest finite number of an array of f32 or bf16; 0 for other types, and of nothing.
func magnitude(l *hlo.Literal) float64 {
	top := float32(0)
	see := func(x float32) {
		if x = max(x, -x); x <= math.MaxFloat32 && x > top {
			top = x
		}
	}
	switch data := l.Bytes(); l.Shape().Type() {
	case hlo.F32:
		for _, x := range hlo.Values[float32](l) {
			see(x)
		}
	case hlo.BF16:
		for i := 0; i+1 < len(data); i += 2 {
			see(math.Float32frombits(uint32(binary.NativeEndian.Uint16(data[i:])) << 16))
		}
	}
	return float64(top)
}

// fewSteps is how far results are apart, as a part of the largest of them, that differ by single roundings to bf16, which has eight bits.
const fewSteps = 1.0 / 32

// precisionHint explains a failed comparison that rounding of narrow types between operations may have caused.
func (c *runCmd) precisionHint(worst float64) string {
	switch {
	case !c.narrow || !(worst <= fewSteps): // NaN: nothing is known
		return ""
	case c.ExcessPrecision:
		return "\n  The difference is a step of a narrow type. JAX on CPU rounds after every operation, which is what halo does without --xla_allow_excess_precision"
	}
	return "\n  The difference is a step of a narrow type. XLA on GPU and TPU does not round between operations (excess precision): --xla_allow_excess_precision does so here"
}
