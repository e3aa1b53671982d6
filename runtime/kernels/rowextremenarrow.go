package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// probeNarrow is probe for bf16 or f16: blocks are folded as f32, and the place is that of a code.
func probeNarrow[I int32 | int64](t hlo.PrimitiveType, r *rowLanes) extremeRows {
	format := minifloat.BF16
	if t == hlo.F16 {
		format = minifloat.F16
	}
	encode := func(v []float32) []byte {
		codes := make([]uint16, len(v))
		for i, x := range v {
			codes[i] = format.FromFloat32(x)
		}
		return bytesOf(codes)
	}
	decode := func(b []byte) []float32 {
		var v []float32
		for _, code := range elems[uint16](b) {
			v = append(v, format.Float32(code))
		}
		return v
	}
	values := []float32{-1, negativeZero[float32](), 0, 1, infinite[float32](1), infinite[float32](-1), format.Float32(format.FromFloat32(notANumber[float32]()))}
	largest, last, ok := probed[float32, I](r, values, encode, decode)
	if !ok {
		return nil
	}
	op := hlo.OpMinimum
	if largest {
		op = hlo.OpMaximum
	}
	n := &narrowReduction{}
	if !n.findFold(op, t) {
		return nil
	}
	const magnitude = 1<<15 - 1
	infinity := int32(format.FromFloat32(infinite[float32](1)))
	find := func(x []uint16) int {
		if len(x) <= shortNarrowRow {
			return firstExtremeCode(x, infinity, largest)
		}
		best, in := n.fold(x[:min(extremeBlock, len(x))]), 0
		for k := extremeBlock; k < len(x) && best == best; k += extremeBlock {
			if v := n.fold(x[k:min(k+extremeBlock, len(x))]); v != v || v != best && (v > best) == largest {
				best, in = v, k
			}
		}
		return in + firstExtremeCode(x[in:min(in+extremeBlock, len(x))], infinity, largest)
	}
	return func(rows []byte, length, at int, values, indices []byte) {
		all, value, index := elems[uint16](rows), elems[uint16](values), elems[I](indices)
		for i := range value {
			x := all[i*length:][:length]
			place := find(x)
			value[i], index[i] = x[place], I(at+place)
			if value[i]&magnitude == 0 && last { // of zeros, the last
				for k := len(x) - 1; k >= 0; k-- {
					if x[k]&magnitude == 0 {
						value[i] = x[k]
						break
					}
				}
			}
		}
	}
}

// shortNarrowRow is the number of elements up to which comparing codes one by one is better than folding them.
const shortNarrowRow = 64

// firstExtremeCode is the place of the first NaN among codes of bf16 or f16, or else of the first that is largest, or smallest. Their order is that of their magnitudes, with signs.
func firstExtremeCode(x []uint16, infinity int32, largest bool) (place int) {
	best := int32(-1 << 31)
	for i, code := range x {
		key := int32(code &^ (1 << 15))
		if key > infinity {
			return i
		}
		if code>>15 != 0 == largest {
			key = -key
		}
		if key > best {
			best, place = key, i
		}
	}
	return place
}
