package workqueue

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestShares has workers claim all blocks, each once, and its own ones first and in order.
func TestShares(t *testing.T) {
	for workers := 1; workers <= 5; workers++ {
		for blocks := int64(workers); blocks < 40; blocks++ {
			l := &loop{blocks: blocks}
			l.divide(workers)
			first := int64(workers-1) * blocks / int64(workers)
			for want := first; want < blocks; want++ {
				block, ok := l.claim(l.ownShare(int32(workers - 1)))
				require.True(t, ok)
				require.Equal(t, want, block, "%d blocks of %d workers", blocks, workers)
			}
			claimed := make([]bool, blocks)
			var mu sync.Mutex
			var all sync.WaitGroup
			for w := range workers {
				all.Go(func() {
					for {
						block, ok := l.claim(l.ownShare(int32(w)))
						if !ok {
							return
						}
						mu.Lock()
						assert.False(t, claimed[block])
						claimed[block] = true
						mu.Unlock()
					}
				})
			}
			all.Wait()
			require.False(t, l.isLeft())
			for block, got := range claimed {
				require.Equal(t, int64(block) < first, got, "block %d", block)
			}
		}
	}
}

// TestShareOfUnknownProcessor is where systems do not tell it.
func TestShareOfUnknownProcessor(t *testing.T) {
	l := &loop{blocks: 7}
	l.divide(3)
	for want := range int64(7) {
		block, ok := l.claim(l.ownShare(-1))
		require.True(t, ok)
		require.Equal(t, want, block)
	}
}
