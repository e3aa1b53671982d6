package scalar

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBank holds registers given by the tree against the first that no value in it meets, for values with holes.
func TestBank(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + r.IntN(200)
		b := newBank(4*n + 40)
		var plain [][]reach
		now := 1
		for range n {
			now += r.IntN(3)
			var ranges []reach
			at := now
			for range 1 + r.IntN(3) {
				to := at + r.IntN(12)
				ranges = append(ranges, reach{at, to})
				at = to + r.IntN(6)
			}
			ranges = inSequence(ranges)
			want := 0
			for want < len(plain) && meet(plain[want], ranges) {
				want++
			}
			got, ok := b.take(ranges)
			if want == len(plain) {
				require.False(t, ok, "%v got register %d among %v", ranges, got, plain)
				b.add(int32(want), ranges)
				plain = append(plain, ranges)
				continue
			}
			require.True(t, ok, "%v got no register, want %d of %v", ranges, want, plain)
			require.EqualValues(t, want, got, "%v among %v", ranges, plain)
			plain[want] = merge(plain[want], ranges)
		}
	}
}

func TestRanges(t *testing.T) {
	require.Equal(t, []reach{{1, 6}, {8, 9}}, inSequence([]reach{{4, 6}, {8, 9}, {1, 4}, {2, 3}}))
	require.Equal(t, []reach{{1, 2}, {4, 5}, {7, 8}}, merge([]reach{{1, 2}, {7, 8}}, []reach{{4, 5}}))
	for _, c := range []struct {
		x, y []reach
		want bool
	}{
		{nil, []reach{{1, 2}}, false},
		{[]reach{{1, 2}}, []reach{{2, 3}}, true},
		{[]reach{{1, 2}, {9, 9}}, []reach{{3, 8}}, false},
		{[]reach{{1, 2}, {9, 9}}, []reach{{3, 8}, {9, 12}}, true},
	} {
		require.Equal(t, c.want, meet(c.x, c.y), "%v and %v", c.x, c.y)
		require.Equal(t, c.want, meet(c.y, c.x), "%v and %v", c.y, c.x)
	}
}

// TestInOrder copies registers one after the other as all at once, in chains, circles and trees.
func TestInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		n := 1 + r.IntN(20)
		before, want := make([]int, n+1), make([]int, n+1)
		for i := range before {
			before[i], want[i] = i, i
		}
		var copies []transfer
		for _, d := range r.Perm(n)[:r.IntN(n+1)] {
			s := r.IntN(n)
			copies = append(copies, transfer{int32(d), int32(s), 8})
			want[d] = before[s]
		}
		after := append([]int(nil), before...)
		for _, c := range inOrder(append([]transfer(nil), copies...), int32(n)) {
			after[c.d] = after[c.s]
		}
		require.Equal(t, want[:n], after[:n], "%v", copies)
	}
}
