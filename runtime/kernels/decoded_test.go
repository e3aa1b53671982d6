package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime"
)

// TestDecodedProducts holds products of bf16 to those of the same numbers as f32, rounded once: bit for bit, but for what NaNs carry. Among the numbers are infinities,
// zeros of both signs and numbers below the normal ones, of which none are flushed.
func TestDecodedProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		text    string
		decodes bool
	}{
		{"T[37,75] dot(T[37,65], T[65,75]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", true},
		{"T[37,75] dot(T[65,37], T[65,75]), lhs_contracting_dims={0}, rhs_contracting_dims={0}", true},
		{"T[37,75] dot(T[37,65], T[75,65]), lhs_contracting_dims={1}, rhs_contracting_dims={1}", true},
		{"T[37,75] dot(T[65,37], T[75,65]), lhs_contracting_dims={0}, rhs_contracting_dims={1}", true},
		{"T[2,300] dot(T[2,257], T[257,300]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", true},
		{"T[300,64] dot(T[300,513], T[513,64]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", true},
		{"T[140,1100] dot(T[140,300], T[300,1100]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", true},
		{"T[250,31] dot(T[250,70], T[31,70]), lhs_contracting_dims={1}, rhs_contracting_dims={1}", true},
		{"T[3,40,75] dot(T[3,40,70], T[3,70,75]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}", true},
		{"T[3,40,45] dot(T[40,3,70], T[70,45,3]), lhs_batch_dims={1}, rhs_batch_dims={2}, lhs_contracting_dims={2}, rhs_contracting_dims={0}", false},
		{"T[20,33] dot(T[20,7,10], T[10,7,33]), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}", false},
		{"T[1100] dot(T[70], T[70,1100]), lhs_contracting_dims={0}, rhs_contracting_dims={0}", true},
		{"T[1100] dot(T[1100,70], T[70]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", true},
		{"T[3,70] dot(T[3,300], T[3,300,70]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}", true},
		{"T[3,70] dot(T[3,7], T[3,70,7]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2}", true},
		{"T[] dot(T[613], T[613]), lhs_contracting_dims={0}, rhs_contracting_dims={0}", true},
		{"T[20,33] dot(T[20,17], T[17,33]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", false},
	} {
		s := siteOf(t, replaceType(c.text, "bf16"))
		wide := siteOf(t, replaceType(c.text, "f32"))
		mixed := siteOf(t, "f32"+replaceType(c.text, "bf16")[len("bf16"):])
		decodes := newDot[float32](s).decodes(s)
		if decodes || cpu.X86.HasAVX2 && cpu.X86.HasFMA { // without them, only some are decoded
			assert.Equal(t, c.decodes, decodes, c.text)
		}
		var args, wides []*hlo.Literal
		for i := range 2 {
			x, y := codesAndNumbers(t, rng, s.in.OperandInstr(i).Shape(), wide.in.OperandInstr(i).Shape())
			args, wides = append(args, x), append(wides, y)
		}
		product := func(s *site, args []*hlo.Literal, workers int) []byte {
			bound, ok := chooseFast(s)
			require.True(t, ok)
			return run(t, s, bound, args, workers)[0].Data
		}
		want := elems[float32](product(wide, wides, 1))
		for _, workers := range []int{1, 2} {
			got, sums := elems[uint16](product(s, args, workers)), elems[float32](product(mixed, args, workers))
			for i, w := range want {
				if w != w {
					require.True(t, sums[i] != sums[i] && isNaNCode(got[i]), "%s: element %d is a NaN", c.text, i)
					continue
				}
				require.Equal(t, math.Float32bits(w), math.Float32bits(sums[i]), "%s: element %d, as f32", c.text, i)
				require.Equal(t, minifloat.BF16FromFloat32(w), got[i], "%s: element %d of %v", c.text, i, w)
			}
		}
	}
}

func isNaNCode(code uint16) bool { x := minifloat.BF16ToFloat32(code); return x != x }

// codesAndNumbers are numbers of bf16, and the same ones as f32. Some rows have numbers that are special.
func codesAndNumbers(t *testing.T, rng *rand.Rand, s, wide hlo.Shape) (codes, numbers *hlo.Literal) {
	special := []uint16{0x7f80, 0xff80, 0x7fc1, 0xffc0, 0x8000, 0, 1, 0x8001, 0x7f, 0x0080, 0x7f7f}
	n := int(s.NumElements())
	a, b := runtime.AlignedBytes(s.ByteSize()), runtime.AlignedBytes(wide.ByteSize())
	for i := range n {
		code := minifloat.BF16FromFloat32(rng.Float32()*2 - 1)
		switch rng.IntN(1000) {
		case 0:
			code = special[rng.IntN(len(special))]
		case 1, 2, 3, 4:
			code = special[4+rng.IntN(6)]
		}
		elems[uint16](a)[i] = code
		elems[float32](b)[i] = minifloat.BF16ToFloat32(code)
	}
	codes, err := hlo.NewLiteral(s, a)
	require.NoError(t, err)
	numbers, err = hlo.NewLiteral(wide, b)
	require.NoError(t, err)
	return codes, numbers
}

// TestRowBlocks holds blocks of rows to what makes a product of them: each panel is in one, and none is too long.
func TestRowBlocks(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		for _, most := range []int{1, 8, 32} {
			for _, least := range []int{1, 3, 100} {
				for panels := 1; panels < 150; panels++ {
					b := rowBlocks{panels: panels, most: most, least: least, share: workers}
					name := fmt.Sprintf("%+v", b)
					next, n := 0, b.count()
					for i := range n {
						lo, hi := b.at(i)
						require.Equal(t, next, lo, name)
						require.Less(t, lo, hi, name)
						require.LessOrEqual(t, hi-lo, most, name)
						next = hi
					}
					require.Equal(t, panels, next, name)
					if workers > 1 && least == 1 && n > workers {
						lo, hi := b.at(n - 1)
						require.LessOrEqual(t, hi-lo, 2, "%s: the last block", name)
					}
				}
			}
		}
	}
}
