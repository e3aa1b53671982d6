package vec

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestPermutation picks at random around each round's place, forwards and backwards, from one array and from two.
func TestPermutation(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		permutations[uint8](t)
		permutations[uint16](t)
		permutations[uint32](t)
		permutations[uint64](t)
	})
}

func permutations[T Number](t *testing.T) {
	width := int(unsafe.Sizeof(T(0)))
	rng := rand.New(rand.NewPCG(7, uint64(width)))
	var a, b [1000]T
	for i := range a {
		a[i], b[i] = T(i), T(10000+i)
	}
	for range 200 {
		arrays, step := 1+rng.IntN(2), rng.IntN(9)-4
		picks := make([]Pick, 64/width*(1+rng.IntN(3)))
		near := 32
		if width == 1 && arrays == 1 {
			near = 1 + rng.IntN(64)
		}
		planes, plane := 1, 0
		if width <= 2 && arrays == 1 && rng.IntN(2) == 0 { // anywhere, if in few places
			planes, plane, near = 1+rng.IntN(4), width*(17+rng.IntN(80)), 16
		}
		for i := range picks {
			picks[i] = Pick{rng.IntN(arrays), width*rng.IntN(near/width) + plane*rng.IntN(planes)}
		}
		p := NewPermutation(width, picks, [2]int{step * width, -step * width})
		require.NotNil(t, p)
		const place = 500
		rounds := min(p.Rounds(1000, 0, place*width, width*len(a)), 1000/len(picks))
		if arrays == 2 {
			rounds = p.Rounds(rounds, 1, place*width, width*len(b))
		}
		got := make([]T, rounds*len(picks)+1)
		p.Run(rounds, pointer(got), pointer(a[place:]), pointer(b[place:]))
		for r := range rounds {
			for i, x := range picks {
				want := a[(place+r*step)+x.Offset/width]
				if x.Array == 1 {
					want = b[(place-r*step)+x.Offset/width]
				}
				require.Equal(t, want, got[r*len(picks)+i], "round %d, element %d", r, i)
			}
		}
		require.Zero(t, got[len(got)-1])
	}
	if width <= 2 { // five places are too many
		picks := make([]Pick, 64)
		for i := range picks {
			picks[i].Offset = i % 5 * 100
		}
		require.Nil(t, NewPermutation(width, picks, [2]int{}))
	}
	none := NewPermutation(width, []Pick{}, [2]int{})
	require.Nil(t, none)
	p := NewPermutation(width, make([]Pick, 64/width), [2]int{64, 64})
	size := p.high[0]
	require.Equal(t, 1, p.Rounds(9, 0, 0, size+63))
	require.Equal(t, 2, p.Rounds(9, 0, 0, size+64))
	require.Zero(t, p.Rounds(9, 0, 0, size-1))
	require.Zero(t, p.Rounds(9, 0, -1, 1000))
}

func TestReverse(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		reversed[uint8](t, "reverse.u8")
		reversed[uint16](t, "reverse.u16")
		reversed[uint32](t, "reverse.u32")
		reversed[uint64](t, "reverse.u64")
	})
}

func reversed[T Number](t *testing.T, name string) {
	for n := 64 / int(unsafe.Sizeof(T(0))); n < 200; n++ {
		a, d := make([]T, n), make([]T, n+1)
		for i := range a {
			a[i] = T(i + 1)
		}
		Find(named(name), nil)(n, pointer(d), pointer(a), nil, nil)
		for i := range a {
			require.Equal(t, a[n-1-i], d[i], "%s of %d", name, n)
		}
		require.Zero(t, d[n])
	}
}
