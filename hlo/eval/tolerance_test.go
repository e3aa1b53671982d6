package eval_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// tolerance says when two arrays agree: the rules are those of the reference answers' README.
type tolerance struct {
	Kind       string `json:"kind"`
	N          uint64 `json:"n"`
	Zero, Inf  string
	Rtol, Atol float64
}

// compare returns "" or what is wrong.
func (tol tolerance) compare(g, w *hlo.Literal) string {
	if !slices.Equal(g.Shape().Dimensions(), w.Shape().Dimensions()) || g.Shape().Type() != w.Shape().Type() {
		return fmt.Sprintf("shape %v, want %v", g.Shape(), w.Shape())
	}
	t := g.Shape().Type()
	bad, first := 0, ""
	size := t.ByteSize()
	for i := range int(g.Shape().NumElements()) {
		a, b := g.Bytes()[i*size:(i+1)*size], w.Bytes()[i*size:(i+1)*size]
		if !tol.agree(t, a, b) {
			if bad == 0 {
				first = fmt.Sprintf("element %d: %v (%x), want %v (%x)", i, numberOf(t, a), a, numberOf(t, b), b)
			}
			bad++
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d elements wrong (%+v), %s", bad, g.Shape().NumElements(), tol, first)
}

func (tol tolerance) agree(t hlo.PrimitiveType, a, b []byte) bool {
	switch {
	case t.IsComplex() && tol.Kind != "rel":
		h := len(a) / 2
		return tol.agree(t.ComponentType(), a[:h], b[:h]) && tol.agree(t.ComponentType(), a[h:], b[h:])
	case t.IsComplex():
		return tol.near(numberOf(t, a), numberOf(t, b))
	case !t.IsFloat():
		if slices.Equal(a, b) {
			return true
		}
		x, y := real(numberOf(t, a)), real(numberOf(t, b))
		return tol.Kind == "rel" && tol.Atol >= 1 && t != hlo.PRED && math.Abs(x-y) <= tol.Atol
	}
	x, y := real(numberOf(t, a)), real(numberOf(t, b))
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.IsNaN(x) && math.IsNaN(y)
	}
	switch tol.Kind {
	case "exact":
		return slices.Equal(a, b)
	case "ulp":
		if x == 0 && y == 0 {
			return tol.Zero == "any" || math.Signbit(x) == math.Signbit(y)
		}
		return ulps(t, a, b) <= tol.N
	}
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return x == y || tol.Inf == "any" && math.Abs(x-y) <= tol.Atol+tol.Rtol*math.Abs(y)
	}
	return x == y || math.Abs(x-y) <= tol.Atol+tol.Rtol*math.Abs(y)
}

// near compares complex numbers by modulus, and part by part where the expected one is not finite.
func (tol tolerance) near(g, w complex128) bool {
	finite := func(x float64) bool { return x-x == 0 }
	part := func(x, y float64) bool { return finite(y) || x == y || math.IsNaN(x) && math.IsNaN(y) }
	if !finite(real(w)) || !finite(imag(w)) {
		return part(real(g), real(w)) && part(imag(g), imag(w))
	}
	return math.Hypot(real(g)-real(w), imag(g)-imag(w)) <= tol.Atol+tol.Rtol*math.Hypot(real(w), imag(w))
}

// ulps counts representable numbers between two, through zero.
func ulps(t hlo.PrimitiveType, a, b []byte) uint64 {
	key := func(v []byte) int64 {
		x := bits(v)
		if t == hlo.F8E8M0FNU {
			return int64(x)
		}
		sign := uint64(1) << (t.Bits() - 1)
		if x&sign != 0 {
			return -int64(x &^ sign)
		}
		return int64(x)
	}
	x, y := key(a), key(b)
	if x < y {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}

func bits(v []byte) uint64 {
	var b [8]byte
	copy(b[:], v)
	return binary.LittleEndian.Uint64(b[:])
}

// numberOf is the value of one element.
func numberOf(t hlo.PrimitiveType, b []byte) complex128 {
	switch {
	case t == hlo.F64:
		return complex(math.Float64frombits(bits(b)), 0)
	case t == hlo.F32:
		return complex(float64(math.Float32frombits(uint32(bits(b)))), 0)
	case t.IsComplex():
		h := len(b) / 2
		return complex(real(numberOf(t.ComponentType(), b[:h])), real(numberOf(t.ComponentType(), b[h:])))
	case t.IsFloat():
		for _, f := range minifloat.Formats() {
			if f.String() == t.String() {
				return complex(f.Float64(uint16(bits(b))), 0)
			}
		}
	case t.IsSigned():
		shift := 64 - 8*len(b)
		return complex(float64(int64(bits(b)<<shift)>>shift), 0)
	}
	return complex(float64(bits(b)), 0)
}
