package elementary

import (
	"math"
	"testing"
)

// TestSingle compares with the bits of XLA's CPU compiler (jaxlib 0.10.2).
func TestSingle(t *testing.T) {
	for _, c := range []struct{ x, y, log, exp, sin, cos float32 }{
		{0x1.043cep+12, -0x1.683df6p+5, 0x1.0ab1a4p+3, 0x1.064cdcp-65, -0x1.bb997p-1, 0x1.ff538p-2},
		{0x1.ec74e6p+13, 0x1.5ab7bcp+5, 0x1.3548d8p+3, 0x1.709eb8p+62, -0x1.32d2e8p-1, 0x1.99e1cp-1},
		{0x1.3260dap-10, 0x1.4eef18p+5, -0x1.b01df6p+2, 0x1.5203f4p+60, -0x1.b5e3d6p-1, -0x1.0952bap-1},
		{0x1.3068eep-1, 0x1.235b48p+6, -0x1.0a36d4p-1, 0x1.0f7946p+105, -0x1.19a9a4p-1, -0x1.ab9022p-1},
		{0x1.75e1a4p-14, 0x1.204ea8p+3, -0x1.2a68dap+3, 0x1.ff542ep+12, 0x1.9d082p-2, -0x1.d480cep-1},
		{0x1.c324f2p-27, 0x1.7bec3ap+5, -0x1.225fb2p+4, 0x1.6d9732p+68, -0x1.6ee85cp-2, -0x1.de0142p-1},
		{0x1.76a624p-25, 0x1.329b84p+5, -0x1.0f2a78p+4, 0x1.39918ap+55, 0x1.2c5392p-1, 0x1.9eaa8ap-1},
		{0x1.75a4ep-12, -0x1.13748ep+2, -0x1.fc231p+2, 0x1.bad834p-7, 0x1.d5e44cp-1, -0x1.96ac4p-2},
		{0x1.1958c4p-9, 0x1.60f59ep+6, -0x1.8935e4p+2, 0x1.3bdff6p+127, 0x1.165392p-2, 0x1.ecb984p-1},
		{0x1.38aaa2p-12, 0x1.d6907ep+3, -0x1.03c512p+3, 0x1.292578p+21, 0x1.af9ceap-1, -0x1.136aa2p-1},
		{0x1.de38b4p+3, -0x1.628daap+1, 0x1.5a27cp+1, 0x1.00ad46p-4, -0x1.73dd16p-2, -0x1.dd0be8p-1},
		{0x1.59c1ap+2, 0x1.3199d6p+2, 0x1.afd57cp+0, 0x1.da0c5p+6, -0x1.feff0ep-1, 0x1.005898p-4},
	} {
		sin, cos := Sincos32(c.y)
		if got, want := [4]float32{Log32(c.x), Exp32(c.y), sin, cos}, [4]float32{c.log, c.exp, c.sin, c.cos}; got != want {
			t.Errorf("log %v, exp, sin, cos %v = %v, want %v", c.x, c.y, got, want)
		}
	}
	for _, c := range []struct{ y, x, angle float32 }{
		{-0x1.54fe5p-2, 0x1.043cep+12, -0x1.4f70c8p-14},
		{0x1.7d7a4ep+9, 0x1.ec74e6p+13, 0x1.8c4eb4p-5},
		{0x1.379d04p+0, 0x1.3260dap-10, 0x1.91e0c8p+0},
		{0x1.30363p-17, 0x1.3068eep-1, 0x1.ffaaa8p-17},
		{0x1.296cp-11, 0x1.75e1a4p-14, 0x1.6a3948p+0},
		{0x1.596568p-25, 0x1.c324f2p-27, 0x1.4152e4p+0},
		{0x1.329b84p+5, 0x1.76a624p-25, 0x1.921fb6p+0},
		{-0x1.13748ep+2, -0x1.75a4ep-12, -0x1.922522p+0},
		{0x1.60f59ep+6, -0x1.1958c4p-9, 0x1.92214cp+0},
		{0x1.d6907ep+3, 0x1.38aaa2p-12, 0x1.921e62p+0},
		{-0x1.628daap+1, 0x1.de38b4p+3, -0x1.775656p-3},
		{0x1.3199d6p+2, -0x1.59c1ap+2, 0x1.357956p+1},
		{0x1.424558p+4, -0x1.874712p-26, 0x1.921fb4p+0},
	} {
		if got := Atan2of32(c.y, c.x); got != c.angle {
			t.Errorf("atan2(%v, %v) = %v, want %v", c.y, c.x, got, c.angle)
		}
	}
}

// TestSingleEnds has the ends of the ranges: what is too small is zero, and what is no number stays none.
func TestSingleEnds(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name      string
		got, want float32
	}{
		{"exp 89", Exp32(89), inf}, {"exp -88", Exp32(-88), 0}, {"exp inf", Exp32(inf), inf}, {"exp -inf", Exp32(-inf), 0}, {"exp nan", Exp32(nan), nan},
		{"log 0", Log32(0), -inf}, {"log -1", Log32(-1), nan}, {"log inf", Log32(inf), inf}, {"log nan", Log32(nan), nan},
		{"atan2 0 -1", Atan2of32(0, -1), math.Pi}, {"atan2 1 0", Atan2of32(1, 0), math.Pi / 2}, {"atan2 -inf inf", Atan2of32(-inf, inf), -math.Pi / 4},
	} {
		if c.got != c.want && (c.got == c.got || c.want == c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}
