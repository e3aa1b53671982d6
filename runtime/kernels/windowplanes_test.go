package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestWindowPlanes: windows over planes of all sizes, in one strip or several, with padding that reaches further than they do.
func TestWindowPlanes(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, typ := range []string{"f32", "s32", "u8", "f64", "s64", "bf16"} {
			for _, c := range []string{
				"T[3,7,4,4] reduce-window(T[3,7,7,7], T[]), window={size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x1_1}",
				"T[150,3,3] reduce-window(T[150,6,6], T[]), window={size=1x2x2 stride=1x2x2}",
				"T[33,9,11] reduce-window(T[33,9,11], T[]), window={size=1x3x3 pad=0_0x1_1x1_1}",
				"T[17,60,70] reduce-window(T[17,120,140], T[]), window={size=1x3x3 stride=1x2x2 pad=0_0x0_1x1_0}", // several strips, the last of which is short
				"T[16,130,50] reduce-window(T[16,130,50], T[]), window={size=1x5x2 pad=0_0x2_2x0_1 rhs_dilate=1x1x1}",
				"T[20,900] reduce-window(T[20,1801], T[]), window={size=1x3 stride=1x2}",
				"T[16,2,700] reduce-window(T[16,2,702], T[]), window={size=1x1x3}", // lines
				"T[2,300] reduce-window(T[2,300], T[]), window={size=1x5 pad=0_0x2_2}", "T[3,9,300] reduce-window(T[3,9,299], T[]), window={size=1x3x4 pad=0_0x1_1x2_2 rhs_dilate=1x2x1}",
				"T[3,40,5] reduce-window(T[3,40,5], T[]), window={size=1x3x1 pad=0_0x1_1x0_0}", "T[2,30,30] reduce-window(T[2,15,30], T[]), window={size=1x2x3 pad=0_0x1_1x1_1 lhs_dilate=1x2x1}",
				"T[40,9] reduce-window(T[40,4], T[]), window={size=1x2 pad=0_0x3_3}", // some windows have nothing
				"T[18,100,40] reduce-window(T[18,50,40], T[]), window={size=1x2x3 stride=1x1x1 pad=0_0x1_1x1_1 lhs_dilate=1x2x1}",
				"T[18,5,6] reduce-window(T[18,9,9], T[]), window={size=1x3x2 stride=1x2x1 pad=0_0x2_-1x-1_-1 rhs_dilate=1x1x2}",
				"T[2,16,3,4,5] reduce-window(T[2,16,6,8,10], T[]), window={size=1x1x2x2x2 stride=1x1x2x2x2}",
				"T[16,4,3] reduce-window(T[16,4,6], T[]), window={size=1x1x2 stride=1x1x2}", // planes are lines
			} {
				for _, op := range []string{"add", "maximum"} {
					kernelCase{text: replaceType(c+", to_apply="+reducer(op), typ), small: true}.check(t)
				}
			}
		}
		restore()
	}
}

// TestWindowStrips: strips reach all that their windows do, and those in the middle share their lists.
func TestWindowStrips(t *testing.T) {
	s := siteOf(t, replaceType("T[16,112,112] reduce-window(T[16,224,224], T[]), window={size=1x3x3 stride=1x2x2 pad=0_0x1_1x1_1}, to_apply="+reducer("maximum"), "f32"))
	w := hlo.AttrsOf[hlo.WindowAttrs](s.in).Window
	runs, ok := newWindowRuns(w, s.shape(0), s.in.Shape())
	assert.True(t, ok)
	p := (&windowReduction[float32]{windowRuns: runs, fold: foldOf[float32](hlo.OpMaximum)}).newWindowPlanes()
	if p == nil {
		t.Skip("no loop folds lists here")
	}
	assert.Greater(t, len(p.strips), 3)
	assert.Equal(t, 0, p.strips[0].from)
	next := 0
	for i, strip := range p.strips {
		assert.Equal(t, next, strip.first)
		next += strip.positions
		assert.Equal(t, min(224, 2*next), strip.from+strip.rows, "strip %d", i)
		if i > 1 && i < len(p.strips)-1 {
			assert.Same(t, p.strips[i-1].groups, strip.groups)
		}
	}
	assert.Equal(t, 112, next)
}
