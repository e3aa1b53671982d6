// Package arrays makes, reads, writes and compares the arrays that programs take and give: literals in npz, npy, safetensors and raw files, fills by
// rule, and comparison with a reference.
//
//	given, err := arrays.ReadFile("weights.safetensors")       // arrays by name
//	l, err := arrays.Literal(given["dense.bias"], value.Shape) // with the type and dimensions that a program declares
//	err = arrays.WriteFile(w, "out.npz", results)
//
// Files of NumPy have no types for half of HLO's elements, so an array gets its type only when a program says what it wants.
package arrays

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// FillKind is a rule by which inputs are made.
type FillKind string

// The rules.
const (
	Zeros   FillKind = "zeros"
	Ones    FillKind = "ones"
	Random  FillKind = "random"  // floats in [-1, 1), integers 0 to 7
	Uniform FillKind = "uniform" // floats in [0, 1), integers 0 and 1
	Model   FillKind = "model"   // floats scaled by the fan-in, for networks
)

// Fill makes the literal of flattened parameter leaf number leaf. The rule is exact, so other tools can make the same data: element i
// (row-major) draws splitmix64(seed·2^48 + leaf·2^40 + i). Dynamic dimensions are as large as their bounds.
func Fill(kind FillKind, seed uint64, leaf int, shape hlo.Shape) (*hlo.Literal, error) {
	if !shape.IsArray() {
		return nil, fmt.Errorf("cannot fill a parameter of shape %v", shape)
	}
	if !shape.IsStatic() && shape.IsBounded() {
		shape = hlo.MakeShape(shape.Type(), shape.Dimensions()...)
	}
	if !shape.IsStatic() || shape.ByteSize() == math.MaxInt64 {
		return nil, fmt.Errorf("cannot fill a parameter of shape %v: its size is not known", shape)
	}
	t := shape.Type()
	w := t.ByteSize()
	n := int(shape.NumElements())
	data := make([]byte, n*w)
	draw := drawer(kind, seed<<48+uint64(leaf)<<40, shape)
	if draw == nil {
		return nil, fmt.Errorf("unknown fill %q: want zeros, ones, random, uniform or model", kind)
	}
	if t.IsComplex() {
		part := t.ComponentType()
		for i := range 2 * n {
			putFloat(data[i*w/2:], part, draw(uint64(i)).float)
		}
		return hlo.NewLiteral(shape, data)
	}
	for i := range n {
		d := draw(uint64(i))
		if t.IsFloat() {
			putFloat(data[i*w:], t, d.float)
			continue
		}
		putInt(data[i*w:w+i*w], t, d.integer)
	}
	return hlo.NewLiteral(shape, data)
}

// drawn is one element, as a float and as an integer.
type drawn struct {
	float   float64
	integer uint64
}

func drawer(kind FillKind, base uint64, shape hlo.Shape) func(i uint64) drawn {
	t := shape.Type()
	narrow := t.Bits() <= 2
	unit := func(i uint64) (float64, uint64) {
		x := splitMix64(base + i)
		return float64(x>>40) * 0x1p-24, x
	}
	integer := func(x uint64, mod uint64) uint64 {
		switch {
		case t == hlo.PRED:
			return x >> 63
		case narrow:
			return (x >> 33) % 2
		}
		return (x >> 33) % mod
	}
	switch kind {
	case Zeros:
		return func(uint64) drawn { return drawn{} }
	case Ones:
		if t.IsComplex() {
			return func(i uint64) drawn { return drawn{float: float64(1 - i%2)} }
		}
		return func(uint64) drawn { return drawn{1, 1} }
	case Random:
		return func(i uint64) drawn { u, x := unit(i); return drawn{2*u - 1, integer(x, 8)} }
	case Uniform:
		return func(i uint64) drawn { u, x := unit(i); return drawn{u, integer(x, 2)} }
	case Model:
		if shape.Rank() < 2 {
			return func(i uint64) drawn { u, x := unit(i); return drawn{0.5 + 0.5*u, integer(x, 8)} }
		}
		fanIn := 1.0
		for a := range shape.Rank() - 1 {
			fanIn *= float64(shape.Dim(a))
		}
		scale := math.Sqrt(3 / fanIn)
		return func(i uint64) drawn { u, x := unit(i); return drawn{(2*u - 1) * scale, integer(x, 8)} }
	}
	return nil
}

// splitMix64 is the finaliser of SplitMix64 applied to the next state.
func splitMix64(state uint64) uint64 {
	z := state + 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// putFloat stores x rounded once to t.
func putFloat(b []byte, t hlo.PrimitiveType, x float64) {
	switch t {
	case hlo.F64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(x))
	case hlo.F32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(x)))
	default:
		f, _ := narrowFormat(t)
		code := f.FromFloat64(x)
		b[0] = byte(code)
		if t.ByteSize() == 2 {
			b[1] = byte(code >> 8)
		}
	}
}

// putInt stores the low bits of x; b is exactly one element long.
func putInt(b []byte, t hlo.PrimitiveType, x uint64) {
	if bits := t.Bits(); t.IsSigned() && bits < 8 {
		x = uint64(int64(x<<(64-bits)) >> (64 - bits))
	}
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}

var narrowFormats = map[string]minifloat.Format{
	"f16": minifloat.F16, "bf16": minifloat.BF16, "f8e5m2": minifloat.F8E5M2, "f8e4m3": minifloat.F8E4M3, "f8e3m4": minifloat.F8E3M4,
	"f8e4m3fn": minifloat.F8E4M3FN, "f8e5m2fnuz": minifloat.F8E5M2FNUZ, "f8e4m3fnuz": minifloat.F8E4M3FNUZ,
	"f8e4m3b11fnuz": minifloat.F8E4M3B11FNUZ, "f8e8m0fnu": minifloat.F8E8M0FNU, "f6e3m2fn": minifloat.F6E3M2FN,
	"f6e2m3fn": minifloat.F6E2M3FN, "f4e2m1fn": minifloat.F4E2M1FN,
}

// narrowFormat is the format of a floating type narrower than 32 bits.
func narrowFormat(t hlo.PrimitiveType) (minifloat.Format, bool) {
	f, ok := narrowFormats[t.String()]
	return f, ok
}
