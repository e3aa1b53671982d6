package tile

import (
	"math"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

var formats = map[hlo.PrimitiveType]minifloat.Format{
	hlo.F16: minifloat.F16, hlo.BF16: minifloat.BF16, hlo.F8E5M2: minifloat.F8E5M2, hlo.F8E4M3: minifloat.F8E4M3,
	hlo.F8E3M4: minifloat.F8E3M4, hlo.F8E4M3FN: minifloat.F8E4M3FN, hlo.F8E5M2FNUZ: minifloat.F8E5M2FNUZ,
	hlo.F8E4M3FNUZ: minifloat.F8E4M3FNUZ, hlo.F8E4M3B11FNUZ: minifloat.F8E4M3B11FNUZ, hlo.F8E8M0FNU: minifloat.F8E8M0FNU,
}

// widenLoop decodes a narrow float from memory.
func widenLoop(t hlo.PrimitiveType) loop {
	switch t {
	case hlo.BF16:
		return vectors.Find(vectors.Of(hlo.OpConvert, t, hlo.F32), func(n int, d, a, _, _ unsafe.Pointer) {
			minifloat.WidenBF16(vec[float32](d, n), vec[uint16](a, n))
		})
	case hlo.F16:
		return vectors.Find(vectors.Of(hlo.OpConvert, t, hlo.F32), func(n int, d, a, _, _ unsafe.Pointer) {
			minifloat.WidenF16(vec[float32](d, n), vec[uint16](a, n))
		})
	}
	table := formats[t].Table32()
	return func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[float32](d, n), vec[uint8](a, n)
		for i := range z {
			z[i] = table[x[i]]
		}
	}
}

// narrowLoop encodes float32 as a narrow float, rounding.
func narrowLoop(t hlo.PrimitiveType) loop {
	switch t {
	case hlo.BF16:
		return vectors.Find(vectors.Of(hlo.OpConvert, hlo.F32, t), func(n int, d, a, _, _ unsafe.Pointer) {
			minifloat.NarrowBF16(vec[uint16](d, n), vec[float32](a, n))
		})
	case hlo.F16:
		return vectors.Find(vectors.Of(hlo.OpConvert, hlo.F32, t), func(n int, d, a, _, _ unsafe.Pointer) {
			minifloat.NarrowF16(vec[uint16](d, n), vec[float32](a, n))
		})
	}
	f := formats[t]
	return func(n int, d, a, _, _ unsafe.Pointer) { f.NarrowBytes(vec[uint8](d, n), vec[float32](a, n)) }
}

// roundLoop rounds float32 to a narrow float, staying float32.
func roundLoop(t hlo.PrimitiveType) loop {
	switch t {
	case hlo.BF16:
		return vectors.Find(roundName(t), roundBy(func(x float32) float32 { return minifloat.BF16ToFloat32(minifloat.BF16FromFloat32(x)) }))
	case hlo.F16:
		return vectors.Find(roundName(t), roundBy(func(x float32) float32 { return minifloat.F16ToFloat32(minifloat.F16FromFloat32(x)) }))
	}
	f := formats[t]
	return func(n int, d, a, _, _ unsafe.Pointer) {
		var codes [Size]byte
		for z, x := vec[float32](d, n), vec[float32](a, n); len(x) > 0; {
			k := min(len(x), len(codes))
			f.NarrowBytes(codes[:k], x[:k])
			f.WidenBytes(z[:k], codes[:k])
			z, x = z[k:], x[k:]
		}
	}
}

func roundBy(round func(float32) float32) loop {
	return func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[float32](d, n), vec[float32](a, n)
		for i := range z {
			z[i] = round(x[i])
		}
	}
}

// convertOperation changes the element type by value.
func convertOperation(from, to hlo.PrimitiveType) (operation, bool) {
	o := operation{weight: 2}
	if from == to {
		o.identity = true
		return o, true
	}
	switch {
	case isWide(from) && to == hlo.F32:
		o.sameLanes = true // the register holds it as float32 already
	case to.IsInteger() && to.Bits() >= 8 && (from.IsInteger() && from.Bits() == to.Bits() || from == hlo.PRED && to.Bits() == 8):
		o.sameLanes = true
	case isWide(to) && lane(from) == hlo.F32:
		o.sameLanes, o.round = true, roundLoop(to)
	case to.IsComplex() && from == to.ComponentType():
		o.fn, o.weight = realLoop(to), 1
		o.vectorizeParts(vectors.Of(hlo.OpConvert, from, to))
	case to.IsComplex() && from.IsComplex():
		parts := vectors.Find(convertName(from.ComponentType(), to.ComponentType()), castTo(from.ComponentType(), to.ComponentType()))
		o.fn = func(n int, d, a, b, c unsafe.Pointer) { parts(2*n, d, a, b, c) }
	case isWide(to) && from == hlo.F64:
		if to == hlo.F16 || to == hlo.BF16 {
			o.fn, o.round = castLoop[float64, float32](), roundLoop(to)
			break
		}
		f := formats[to]
		o.fn = func(n int, d, a, _, _ unsafe.Pointer) {
			z, x := vec[float32](d, n), vec[float64](a, n)
			for i := range z {
				z[i] = f.Float32(f.FromFloat64(x[i]))
			}
		}
	case isWide(to):
		o.fn, o.round = castTo(lane(from), hlo.F32), roundLoop(to)
		o.vectorize(convertName(from, hlo.F32))
		o.name = scalarConvert(from, hlo.F32)
	default:
		o.fn, o.weight = castTo(lane(from), to), 1
		o.vectorize(convertName(from, to))
		o.name = scalarConvert(from, to)
	}
	return o, o.fn != nil || o.sameLanes
}

// realLoop makes complex numbers of their real parts.
func realLoop(to hlo.PrimitiveType) loop {
	if to == hlo.C64 {
		return func(n int, d, a, _, _ unsafe.Pointer) {
			z, x := vec[complex64](d, n), vec[float32](a, n)
			for i := range z {
				z[i] = complex(x[i], 0)
			}
		}
	}
	return func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[complex128](d, n), vec[float64](a, n)
		for i := range z {
			z[i] = complex(x[i], 0)
		}
	}
}

// castTo converts between types that registers hold as they are.
func castTo(from, to hlo.PrimitiveType) loop {
	switch from {
	case hlo.PRED, hlo.U8:
		return castInteger[uint8](to)
	case hlo.U16:
		return castInteger[uint16](to)
	case hlo.U32:
		return castInteger[uint32](to)
	case hlo.U64:
		return castInteger[uint64](to)
	case hlo.S8:
		return castInteger[int8](to)
	case hlo.S16:
		return castInteger[int16](to)
	case hlo.S32:
		return castInteger[int32](to)
	case hlo.S64:
		return castInteger[int64](to)
	case hlo.F32:
		if to == hlo.F64 {
			return castLoop[float32, float64]()
		}
		return castFloat[float32](to)
	case hlo.F64:
		if to == hlo.F32 {
			return castLoop[float64, float32]()
		}
		return castFloat[float64](to)
	}
	return nil
}

func castInteger[F integer](to hlo.PrimitiveType) loop {
	switch to {
	case hlo.PRED:
		return isNotZero[F]
	case hlo.U8:
		return castLoop[F, uint8]()
	case hlo.U16:
		return castLoop[F, uint16]()
	case hlo.U32:
		return castLoop[F, uint32]()
	case hlo.U64:
		return castLoop[F, uint64]()
	case hlo.S8:
		return castLoop[F, int8]()
	case hlo.S16:
		return castLoop[F, int16]()
	case hlo.S32:
		return castLoop[F, int32]()
	case hlo.S64:
		return castLoop[F, int64]()
	case hlo.F32:
		return castLoop[F, float32]()
	case hlo.F64:
		return castLoop[F, float64]()
	}
	return nil
}

// castLoop is Go's conversion, for pairs where that is HLO's.
func castLoop[F, T real]() loop {
	return func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[T](d, n), vec[F](a, n)
		for i := range z {
			z[i] = T(x[i])
		}
	}
}

func isNotZero[F real](n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[bool](d, n), vec[F](a, n)
	for i := range z {
		z[i] = x[i] != 0
	}
}

func castFloat[F float](to hlo.PrimitiveType) loop {
	switch to {
	case hlo.PRED:
		return isNotZero[F]
	case hlo.U8:
		return saturate[F, uint8](0, math.MaxUint8)
	case hlo.U16:
		return saturate[F, uint16](0, math.MaxUint16)
	case hlo.U32:
		return saturate[F, uint32](0, math.MaxUint32)
	case hlo.S8:
		return saturate[F, int8](math.MinInt8, math.MaxInt8)
	case hlo.S16:
		return saturate[F, int16](math.MinInt16, math.MaxInt16)
	case hlo.S32:
		return saturate[F, int32](math.MinInt32, math.MaxInt32)
	case hlo.S64:
		return saturate[F, int64](math.MinInt64, math.MaxInt64)
	case hlo.U64:
		return func(n int, d, a, _, _ unsafe.Pointer) {
			z, x := vec[uint64](d, n), vec[F](a, n)
			for i := range z {
				switch v := float64(x[i]); {
				case !(v > 0):
					z[i] = 0
				case v >= 1<<64:
					z[i] = math.MaxUint64
				default:
					z[i] = uint64(v)
				}
			}
		}
	}
	return nil
}

// saturate truncates toward zero and stops at the ends of the range; NaN gives 0.
func saturate[F float, T integer](lo, hi T) loop {
	fl, fh := float64(lo), float64(hi)
	return func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[T](d, n), vec[F](a, n)
		for i := range z {
			v := float64(x[i])
			switch {
			case v > fl && v < fh:
				z[i] = T(int64(v))
			case v >= fh:
				z[i] = hi
			case v <= fl:
				z[i] = lo
			default:
				z[i] = 0
			}
		}
	}
}

// recodeLoop reads the bits of one narrow float as another, both as float32.
func recodeLoop(from, to hlo.PrimitiveType) loop {
	switch f, g := formats[from], formats[to]; {
	case from == hlo.BF16:
		return recode(minifloat.BF16FromFloat32, minifloat.F16ToFloat32)
	case from == hlo.F16:
		return recode(minifloat.F16FromFloat32, minifloat.BF16ToFloat32)
	default:
		return recode(f.FromFloat32, g.Float32)
	}
}

func recode(code func(float32) uint16, value func(uint16) float32) loop {
	return func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[float32](d, n), vec[float32](a, n)
		for i := range z {
			z[i] = value(code(x[i]))
		}
	}
}

// bitcastOperation reinterprets the bits of one element as another of the same width.
func bitcastOperation(from, to hlo.PrimitiveType) (operation, bool) {
	o := operation{weight: 1}
	if from.Bits() != to.Bits() || from == hlo.PRED || to == hlo.PRED {
		return o, false
	}
	switch {
	case from == to:
		o.identity = true
		return o, true
	case isWide(from) && isWide(to):
		o.fn = recodeLoop(from, to)
	case isWide(from):
		o.fn = narrowLoop(from)
		o.vectorize(vectors.Of(hlo.OpConvert, hlo.F32, from))
	case isWide(to):
		o.fn = widenLoop(to)
		o.vectorize(vectors.Of(hlo.OpConvert, to, hlo.F32))
	default:
		o.sameLanes = true // only the type is another
	}
	return o, true
}
