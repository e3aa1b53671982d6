// Package arrays makes, reads, writes and compares the arrays that programs take and give: literals in npz, npy, safetensors and raw files, fills by
// rule, and comparison with a reference.
//
//	given, err := arrays.ReadFile("weights.safetensors")       // arrays by name
//	l, err := arrays.Literal(given["dense.bias"], value.Shape) // with the type and dimensions that a program declares
//	l, err = arrays.Argument(given["x"], value.Shape)          // 64-bit numbers for 32 bits, too
//	err = arrays.WriteFile(w, "out.npz", results)
//
// Files of NumPy have no types for half of HLO's elements, so an array gets its type only when a program says what it wants.
package arrays

import (
	"encoding/binary"
	"fmt"
	"math"
	goruntime "runtime"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/internal/pages"
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
	return (&Filler{Kind: kind, Seed: seed}).Fill(leaf, shape)
}

// Filler makes the literals of many leaves, as [Fill] does. Small ones that it expects share memory, which stays until the last of them is gone: it costs a
// tenth of the time to touch it first. A Filler is not safe for concurrent use.
type Filler struct {
	Kind FillKind
	Seed uint64
	room pages.Room
}

// Expect says that a leaf of that shape is to come.
func (f *Filler) Expect(shape hlo.Shape) {
	if shape.IsArray() && shape.IsStatic() {
		f.room.Expect(shape.ByteSize())
	}
}

// Fill makes the literal of a leaf.
func (f *Filler) Fill(leaf int, shape hlo.Shape) (*hlo.Literal, error) {
	x, err := f.begin(leaf, shape)
	if err != nil {
		return nil, err
	}
	workers := min(goruntime.GOMAXPROCS(0), 1+x.draws/worthWorker)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { x.rule.fill(x.data, x.draws*i/workers, x.draws*(i+1)/workers) })
	}
	all.Wait()
	return x.literal, nil
}

// filling is a literal whose elements are being made.
type filling struct {
	literal *hlo.Literal
	data    []byte // of the literal
	rule    fillRule
	draws   int
}

// begin makes the literal of a leaf, all zeros.
func (f *Filler) begin(leaf int, shape hlo.Shape) (x filling, err error) {
	if !shape.IsArray() {
		return x, fmt.Errorf("cannot fill a parameter of shape %v", shape)
	}
	if !shape.IsStatic() && shape.IsBounded() {
		shape = hlo.MakeShape(shape.Type(), shape.Dimensions()...)
	}
	if !shape.IsStatic() || shape.ByteSize() == math.MaxInt64 {
		return x, fmt.Errorf("cannot fill a parameter of shape %v: its size is not known", shape)
	}
	var ok bool
	if x.rule, ok = ruleOf(f.Kind, shape); !ok {
		return x, fmt.Errorf("unknown fill %q: want zeros, ones, random, uniform or model", f.Kind)
	}
	x.rule.base = f.Seed<<48 + uint64(leaf)<<40
	x.data = f.room.Bytes(shape.ByteSize())
	x.draws = len(x.data) / x.rule.part.ByteSize()
	x.literal, err = hlo.NewLiteral(shape, x.data)
	return x, err
}

// worthWorker is how many draws take long enough to have a worker of their own.
const worthWorker = 1 << 15

// fillRule makes elements, or the parts of complex ones, of draws x with u = (x>>40)·2^-24: floats are (times·u + plus)·scale rounded once, integers
// are x>>shift & mask + least. Of these operations only the last product may round.
type fillRule struct {
	base               uint64
	part               hlo.PrimitiveType
	times, plus, scale float64
	shift              uint
	mask, least        uint64
	onlyReal           bool // imaginary parts are 0
}

func ruleOf(kind FillKind, shape hlo.Shape) (fillRule, bool) {
	t := shape.Type()
	r := fillRule{part: t, scale: 1, shift: 33}
	if t.IsComplex() {
		r.part = t.ComponentType()
	}
	switch kind {
	case Zeros:
	case Ones:
		r.plus, r.least, r.onlyReal = 1, 1, t.IsComplex()
	case Random:
		r.times, r.plus, r.mask = 2, -1, 7
	case Uniform:
		r.times, r.mask = 1, 1
	case Model:
		r.times, r.plus, r.mask = 0.5, 0.5, 7
		if shape.Rank() >= 2 {
			fanIn := 1.0
			for a := range shape.Rank() - 1 {
				fanIn *= float64(shape.Dim(a))
			}
			r.times, r.plus, r.scale = 2, -1, math.Sqrt(3/fanIn)
		}
	default:
		return r, false
	}
	if t.Bits() <= 2 {
		r.mask &= 1
	}
	if t == hlo.PRED {
		r.shift = 63
		r.mask &= 1
	}
	return r, true
}

// fill makes the draws from one number to another, and writes what they make to their places in data.
func (r *fillRule) fill(data []byte, from, to int) {
	w := r.part.ByteSize()
	from += r.vector(data[from*w:to*w], from)
	var buffer [512]float64
	for from < to {
		n := min(to-from, len(buffer))
		dst := data[from*w : (from+n)*w]
		if r.part.IsFloat() {
			r.floats(buffer[:n], from)
			putFloats(dst, r.part, buffer[:n])
		} else {
			r.integers(dst, from)
		}
		from += n
	}
}

func (r *fillRule) floats(dst []float64, from int) {
	base, times, plus, scale := r.base+uint64(from), r.times, r.plus, r.scale
	for i := range dst {
		u := float64(int64(splitMix64(base+uint64(i))>>40)) * 0x1p-24
		dst[i] = (times*u + plus) * scale
	}
	if r.onlyReal {
		for i := 1 - from%2; i < len(dst); i += 2 {
			dst[i] = 0
		}
	}
}

func (r *fillRule) integers(dst []byte, from int) {
	base, shift, mask, least := r.base+uint64(from), r.shift&63, r.mask, r.least
	w := r.part.ByteSize()
	extend := uint(0) // the sign of a type narrower than a byte fills the byte
	if bits := r.part.Bits(); r.part.IsSigned() && bits < 8 {
		extend = uint(8 - bits)
	}
	for i := range len(dst) / w {
		x := splitMix64(base+uint64(i))>>shift&mask + least
		switch w {
		case 1:
			dst[i] = byte(int8(x<<extend) >> extend)
		case 2:
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(x))
		case 4:
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(x))
		case 8:
			binary.LittleEndian.PutUint64(dst[8*i:], x)
		}
	}
}

// golden is what one state of SplitMix64 differs by from the next.
const golden = 0x9E3779B97F4A7C15

// splitMix64 is the finaliser of SplitMix64 applied to the next state.
func splitMix64(state uint64) uint64 {
	z := state + golden
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// putFloats stores numbers, each rounded once to t.
func putFloats(dst []byte, t hlo.PrimitiveType, src []float64) {
	switch t {
	case hlo.F64:
		for i, x := range src {
			binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(x))
		}
	case hlo.F32:
		for i, x := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(x)))
		}
	default:
		f, _ := narrowFormat(t)
		wide := t.ByteSize() == 2
		for i, x := range src {
			var code uint16
			if y := float32(x); float64(y) == x { // from there it is sooner done
				code = f.FromFloat32(y)
			} else {
				code = f.FromFloat64(x)
			}
			if wide {
				binary.LittleEndian.PutUint16(dst[2*i:], code)
			} else {
				dst[i] = byte(code)
			}
		}
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
