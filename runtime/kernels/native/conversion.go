package native

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Conversion is the loop between f16 and f32 for one element among other code: see [Element].
type Conversion struct {
	op amd64.VectorOp
}

// NewConversion is that of the loop with this name. It reports false for other loops, and without AVX-512.
func NewConversion(name vec.Name) (*Conversion, bool) {
	x := &Conversion{}
	switch name {
	case vec.Of(hlo.OpConvert, hlo.F16, hlo.F32):
		x.op = amd64.VCVTPH2PS
	case vec.Of(hlo.OpConvert, hlo.F32, hlo.F16):
		x.op = amd64.VCVTPS2PH
	default:
		return nil, false
	}
	return x, vec.InUse() == vec.AVX512 && vec.Has(name) && !disabled.Load()
}

// Below reports that there is no limit.
func (x *Conversion) Below() (power int, double bool) { return 0, false }

// Uses reports that nothing below register 16 changes.
func (x *Conversion) Uses() uint16 { return 0 }

// Write converts what is in all lanes, so that none is slow.
func (x *Conversion) Write(c *amd64.Code, args []amd64.Reg, _ func([16]byte) amd64.Label) amd64.Reg {
	d := amd64.R(firstSpare)
	c.Vector(&amd64.Vector{Op: amd64.VPUNPCKLDQ, Wide: true, Bits: 128, D: d, X: args[0], Y: amd64.R(args[0])})
	c.Vector(&amd64.Vector{Op: amd64.VPUNPCKLQDQ, Wide: true, Bits: 128, D: d, X: firstSpare, Y: d})
	c.Vector(&amd64.Vector{Op: x.op, Wide: true, Bits: 128, D: d, Y: d, HasNumber: x.op == amd64.VCVTPS2PH})
	return firstSpare
}
