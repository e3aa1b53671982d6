// Package minifloat knows the number formats of HLO that Go has no type for: the
// floating-point formats narrower than 32 bits and the integers narrower than 8.
//
// A narrow float is a code, an unsigned integer whose low bits hold sign, exponent
// and mantissa. A [Format] says how to read it:
//
//	minifloat.F8E4M3FN.Float32(0x7e)      // 448, exactly
//	minifloat.F8E4M3FN.FromFloat64(464)   // 0x7e: the tie goes to the even code
//	minifloat.F8E4M3FN.FromFloat64(465)   // 0x7f: NaN, the format has no infinity
//	minifloat.BF16.Info().Max             // 3.3895314e38
//
// Going to a wider type is exact. Going to a narrower one rounds once, to nearest,
// ties to even, whatever the source: FromFloat64 does not pass through float32.
// Denormals are kept in both directions. What lies beyond the largest finite value
// becomes infinity where the format has one, else NaN where it has one, else the
// largest finite value.
//
//	file        what
//	format.go   Format, Info: the descriptors
//	convert.go  any Format ↔ float32 and float64, one value or a slice of bytes
//	code.go     questions about codes, and what negate, abs and sorting do to them
//	half.go     f16 and bf16 ↔ float32, the fast forms, one value or a slice
//	half_*.go   their vector forms; gen writes the assembly
//	pack.go     one element per byte ↔ several elements per byte
//
// A NaN keeps its sign where the format has NaNs of both signs. In the IEEE-like formats
// it also keeps the upper bits of its payload and becomes quiet, as processors do it.
//
// f8e8m0fnu has no zero. Values below its smallest become that, down to the smallest float32; what
// is less, zero itself and all negative values become NaN.
//
// HLO's convert from f64 to f16 and bf16 rounds twice, by way of f32; a caller
// that wants that says FromFloat32(float32(x)).
//
// Everything here is a pure function of its arguments and safe for concurrent use.
package minifloat
