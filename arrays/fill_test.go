package arrays

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// TestFill holds fills of all types to the rule, element by element.
func TestFill(t *testing.T) {
	const seed, leaf = 3, 5
	for p := range hlo.PrimitiveType(64) {
		if !hlo.MakeShape(p).IsArray() || p.ByteSize() == 0 {
			continue
		}
		shapes := [][]int64{{}, {7}, {3, 0}, {2, 3, 101}}
		if p == hlo.F32 || p == hlo.BF16 || p == hlo.S4 {
			shapes = append(shapes, []int64{2, 1, worthWorker + 1}) // by several workers
		}
		for _, kind := range []FillKind{Zeros, Ones, Random, Uniform, Model} {
			for _, dims := range shapes {
				shape := hlo.MakeShape(p, dims...)
				l, err := Fill(kind, seed, leaf, shape)
				require.NoError(t, err)
				got, part := l.Bytes(), p.ComponentType()
				w := part.ByteSize()
				require.Len(t, got, int(shape.ByteSize()))
				for i := range len(got) / w {
					x := splitMix64(seed<<48 + leaf<<40 + uint64(i))
					if got, want := got[i*w:(i+1)*w], drawnElement(kind, shape, i, x); string(got) != string(want) {
						require.Equal(t, want, got, "%s of %v, number %d", kind, shape, i)
					}
				}
			}
		}
	}
	_, err := Fill("most", 0, 0, hlo.MakeShape(hlo.F32))
	require.ErrorContains(t, err, `unknown fill "most"`)
}

// drawnElement is number i of a fill, made of the draw x.
func drawnElement(kind FillKind, shape hlo.Shape, i int, x uint64) []byte {
	p, u := shape.Type(), float64(x>>40)*0x1p-24
	var float float64
	var integer uint64
	switch kind {
	case Ones:
		float, integer = 1, 1
		if p.IsComplex() && i%2 == 1 {
			float = 0
		}
	case Random:
		float, integer = 2*u-1, x>>33%8
	case Uniform:
		float, integer = u, x>>33%2
	case Model:
		float, integer = 0.5+0.5*u, x>>33%8
		if n := shape.Rank(); n >= 2 {
			float = (2*u - 1) * math.Sqrt(3/float64(shape.NumElements()/max(shape.Dim(n-1), 1)))
		}
	}
	if drawn := kind != Zeros && kind != Ones; drawn && p == hlo.PRED {
		integer = x >> 63
	} else if drawn && p.Bits() <= 2 {
		integer = x >> 33 % 2
	}
	part := p.ComponentType()
	all := make([]byte, 8)
	switch f, narrow := narrowFormat(part); {
	case part == hlo.F64:
		integer = math.Float64bits(float)
	case part == hlo.F32:
		integer = uint64(math.Float32bits(float32(float)))
	case narrow:
		integer = uint64(f.FromFloat64(float))
	case part.IsSigned() && part.Bits() < 8:
		integer = uint64(int64(integer<<(64-part.Bits())) >> (64 - part.Bits()))
	}
	binary.LittleEndian.PutUint64(all, integer)
	return all[:part.ByteSize()]
}

// BenchmarkFill makes a million elements of a type.
func BenchmarkFill(b *testing.B) {
	for _, p := range []hlo.PrimitiveType{hlo.F64, hlo.F32, hlo.BF16, hlo.F16, hlo.S32} {
		b.Run(p.String(), func(b *testing.B) {
			const n = 1 << 20
			b.SetBytes(n * int64(p.ByteSize()))
			for b.Loop() {
				_, err := Fill(Model, 1, 0, hlo.MakeShape(p, 1024, n/1024))
				require.NoError(b, err)
			}
		})
	}
}

// TestFillAhead has the literals that Fill makes, of leaves of many pieces and of few, and none for what cannot be filled.
func TestFillAhead(t *testing.T) {
	shapes := []hlo.Shape{
		hlo.MakeShape(hlo.F32, 2, 3*worthWorker+5), hlo.MakeShape(hlo.BF16, 7), hlo.MakeTuple(), hlo.MakeShape(hlo.S4, 2*worthWorker+1),
		hlo.MakeShape(hlo.C64, worthWorker+1), hlo.MakeShape(hlo.F32, 0),
	}
	for range 3 {
		f := &Filler{Kind: Random, Seed: 9}
		got := f.Ahead(shapes).Literals()
		require.Len(t, got, len(shapes))
		for i, s := range shapes {
			if !s.IsArray() {
				require.Nil(t, got[i])
				continue
			}
			want, err := Fill(Random, 9, i, s)
			require.NoError(t, err)
			require.Equal(t, want.Shape(), got[i].Shape())
			require.Equal(t, want.Bytes(), got[i].Bytes(), "leaf %d", i)
		}
	}
	require.Nil(t, (&Filler{Kind: Random}).Ahead([]hlo.Shape{hlo.MakeShape(hlo.F32, 16)}), "too little")
	a := (&Filler{Kind: Ones}).Ahead(shapes)
	a.Stop()
	a.Literals() // ends
}
