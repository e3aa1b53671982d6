package minifloat

import "fmt"

// Format is one floating-point format narrower than 32 bits.
type Format uint8

// The formats, under their HLO names in capitals.
const (
	F16 Format = iota
	BF16
	F8E5M2
	F8E4M3
	F8E3M4
	F8E4M3FN
	F8E5M2FNUZ
	F8E4M3FNUZ
	F8E4M3B11FNUZ
	F8E8M0FNU
	F6E3M2FN
	F6E2M3FN
	F4E2M1FN

	numFormats
)

// family says what the codes at the edges of a format mean.
type family uint8

const (
	// ieee formats have infinities and NaNs with payloads in the highest exponent.
	ieee family = iota
	// oneNaN formats have no infinity; all ones below the sign is NaN.
	oneNaN
	// unsignedZero formats have no infinity; the code of -0 is the only NaN.
	unsignedZero
	// scale is the family of f8e8m0fnu: an exponent and nothing else. No sign, no
	// zero, no denormals, no infinity; all ones is NaN.
	scale
	// finite formats have neither infinity nor NaN.
	finite
)

// row is what defines a format. All else is derived.
type row struct {
	name               string
	exponent, mantissa int
	bias               int
	family             family
}

var rows = [numFormats]row{
	F16:           {"f16", 5, 10, 15, ieee},
	BF16:          {"bf16", 8, 7, 127, ieee},
	F8E5M2:        {"f8e5m2", 5, 2, 15, ieee},
	F8E4M3:        {"f8e4m3", 4, 3, 7, ieee},
	F8E3M4:        {"f8e3m4", 3, 4, 3, ieee},
	F8E4M3FN:      {"f8e4m3fn", 4, 3, 7, oneNaN},
	F8E5M2FNUZ:    {"f8e5m2fnuz", 5, 2, 16, unsignedZero},
	F8E4M3FNUZ:    {"f8e4m3fnuz", 4, 3, 8, unsignedZero},
	F8E4M3B11FNUZ: {"f8e4m3b11fnuz", 4, 3, 11, unsignedZero},
	F8E8M0FNU:     {"f8e8m0fnu", 8, 0, 127, scale},
	F6E3M2FN:      {"f6e3m2fn", 3, 2, 3, finite},
	F6E2M3FN:      {"f6e2m3fn", 2, 3, 1, finite},
	F4E2M1FN:      {"f4e2m1fn", 2, 1, 1, finite},
}

// layout is a row with the codes that conversions compare with.
type layout struct {
	mantissa, bias int
	family         family
	minField       int    // smallest exponent field with an implicit leading one
	sign           uint16 // the sign bit; 0 where there is none
	mask           uint16 // all bits of a code
	max            uint16 // code of the largest finite value
	over           uint16 // code of what is larger: infinity, NaN or max
	nan            uint16 // code of the quiet NaN; of -0 where there is none
}

var layouts = func() (all [numFormats]layout) {
	for f, r := range rows {
		magnitude := uint16(1)<<(r.exponent+r.mantissa) - 1
		l := layout{
			mantissa: r.mantissa, bias: r.bias, family: r.family,
			minField: 1, sign: magnitude + 1, mask: magnitude<<1 | 1,
		}
		switch r.family {
		case ieee:
			infinity := uint16(1<<r.exponent-1) << r.mantissa
			l.max, l.over, l.nan = infinity-1, infinity, infinity|1<<(r.mantissa-1)
		case oneNaN:
			l.max, l.over, l.nan = magnitude-1, magnitude, magnitude
		case unsignedZero:
			l.max, l.over, l.nan = magnitude, l.sign, l.sign
		case scale:
			l.minField, l.sign, l.mask = 0, 0, magnitude
			l.max, l.over, l.nan = magnitude-1, magnitude, magnitude
		case finite:
			l.max, l.over, l.nan = magnitude, magnitude, l.sign
		}
		all[f] = l
	}
	return all
}()

// Info describes a format.
type Info struct {
	Name         string // as HLO text spells it
	Bits         int    // of one element, packed
	ExponentBits int
	MantissaBits int // without the implicit leading one
	PayloadBits  int // of a NaN: MantissaBits, or 0 where NaN is one code (of each sign)
	Bias         int

	HasSign         bool
	HasZero         bool
	HasNegativeZero bool
	HasInf          bool
	HasNaN          bool
	HasNegativeNaN  bool // NaN comes in two signs

	Max         float64 // largest finite value
	MinNormal   float64 // smallest positive value with a full mantissa
	MinPositive float64 // smallest positive value
	Epsilon     float64 // from 1 to the next larger value
}

var infos = func() (all [numFormats]Info) {
	for i, r := range rows {
		f, l := Format(i), layouts[i]
		bits := r.exponent + r.mantissa
		if l.sign != 0 {
			bits++
		}
		info := Info{
			Name: r.name, Bits: bits, ExponentBits: r.exponent, MantissaBits: r.mantissa, Bias: r.bias,
			HasSign:         r.family != scale,
			HasZero:         r.family != scale,
			HasNegativeZero: r.family != scale && r.family != unsignedZero,
			HasInf:          r.family == ieee,
			HasNaN:          r.family != finite,
			HasNegativeNaN:  r.family == ieee || r.family == oneNaN,
			Max:             f.Float64(l.max),
			MinNormal:       f.Float64(uint16(l.minField) << r.mantissa),
			MinPositive:     f.Float64(1),
		}
		if r.family == ieee {
			info.PayloadBits = r.mantissa
		}
		if r.family == scale {
			info.MinPositive = f.Float64(0)
		}
		one := uint16(r.bias) << r.mantissa
		info.Epsilon = f.Float64(one+1) - f.Float64(one)
		all[i] = info
	}
	return all
}()

// Formats returns every format, in the order of the constants.
func Formats() []Format {
	all := make([]Format, numFormats)
	for i := range all {
		all[i] = Format(i)
	}
	return all
}

// Info returns the description of f.
func (f Format) Info() Info { return infos[f] }

// Bits is the width of one element.
func (f Format) Bits() int { return infos[f].Bits }

// String is the name of f in HLO text.
func (f Format) String() string {
	if f >= numFormats {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return rows[f].name
}
