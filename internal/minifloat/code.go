package minifloat

// IsNaN reports whether code is a NaN of f.
func (f Format) IsNaN(code uint16) bool {
	l := &layouts[f]
	code &= l.mask
	switch l.family {
	case ieee:
		return code&^l.sign > l.over
	case oneNaN:
		return code&^l.sign == l.nan
	case unsignedZero, scale:
		return code == l.nan
	}
	return false
}

// IsInf reports whether code is an infinity of f, of either sign.
func (f Format) IsInf(code uint16) bool {
	l := &layouts[f]
	return l.family == ieee && code&l.mask&^l.sign == l.over
}

// NaN returns the quiet positive NaN of f; the code of -0 in formats without NaN, which
// is what XLA stores for one.
func (f Format) NaN() uint16 { return layouts[f].nan }

// NaNWithPayload returns the NaN with the given sign and mantissa bits. It reports false
// when f has no such code: the payload is zero or wider than Info.PayloadBits, or the sign is missing.
func (f Format) NaNWithPayload(negative bool, payload uint64) (uint16, bool) {
	l, info := &layouts[f], &infos[f]
	if payload == 0 || payload>>info.PayloadBits != 0 || negative && !info.HasNegativeNaN {
		return 0, false
	}
	code := l.over | uint16(payload)
	if negative {
		code |= l.sign
	}
	return code, true
}

// Payload returns the mantissa bits of a NaN code, and 0 in formats whose NaN has no payload.
func (f Format) Payload(code uint16) uint64 {
	return uint64(code) & (1<<infos[f].PayloadBits - 1)
}

// Max returns the code of the largest finite value; that of the smallest is its Negate.
func (f Format) Max() uint16 { return layouts[f].max }

// Negate flips the sign bit, of a NaN too. Zero and NaN of formats without -0, and every
// code of f8e8m0fnu, stay.
func (f Format) Negate(code uint16) uint16 {
	l := &layouts[f]
	if l.family == unsignedZero && code&l.mask&^l.sign == 0 {
		return code
	}
	return code ^ l.sign
}
