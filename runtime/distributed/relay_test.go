package distributed

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRelay passes blocks of different lengths on among any number of processes.
func TestRelay(t *testing.T) {
	for n := 1; n <= 19; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			post := newPost(n)
			var wait sync.WaitGroup
			for me := range n {
				wait.Go(func() {
					r := &relay{ranks: make([]int, n), me: me, task: newTask("relay", 0), run: post.run(me)}
					for i := range n {
						r.ranks[i] = i
					}
					size := func(i int) int { return i % 3 }
					blocks, err := r.gather(block(me, me, size(me)), size)
					assert.NoError(t, err)
					for i, b := range blocks {
						assert.Equal(t, block(i, i, size(i)), b)
					}
					sizes := func(i, k int) int { return (i + 2*k) % 4 }
					mine := make([][]byte, n)
					for k := range mine {
						mine[k] = block(me, k, sizes(me, k))
					}
					blocks, err = r.swap(mine, sizes)
					assert.NoError(t, err)
					for i, b := range blocks {
						assert.Equal(t, block(i, me, sizes(i, me)), b)
					}
				})
			}
			wait.Wait()
			most := 0
			for 1<<most < n {
				most++
			}
			assert.LessOrEqual(t, post.most(), 2*most, "messages that one process sends")
		})
	}
}

// TestRelayWrongSize brings another number of bytes than the others expect.
func TestRelayWrongSize(t *testing.T) {
	r := &relay{ranks: []int{0, 1}, task: newTask("all-gather g", 3)}
	_, err := r.gather(make([]byte, 2), func(int) int { return 3 })
	require.EqualError(t, err, "all-gather g (execution 3) brings 2 bytes, and 3 are expected")
	_, err = r.swap(make([][]byte, 2), func(int, int) int { return 3 })
	require.EqualError(t, err, "all-gather g (execution 3) brings 0 bytes, and 3 are expected")
}

// block is what process i brings for process k.
func block(i, k, length int) []byte {
	b := make([]byte, length)
	for j := range b {
		b[j] = byte(i*20 + k + j)
	}
	return b
}

// post carries messages between processes that are goroutines.
type post struct {
	boxes [][]chan []byte
	mu    sync.Mutex
	sent  []int
}

func newPost(n int) *post {
	p := &post{boxes: make([][]chan []byte, n), sent: make([]int, n)}
	for i := range p.boxes {
		for range n {
			p.boxes[i] = append(p.boxes[i], make(chan []byte, 64))
		}
	}
	return p
}

func (p *post) run(me int) func(*batch) error {
	return func(b *batch) error {
		for _, m := range b.messages {
			if !m.receive {
				p.mu.Lock()
				p.sent[me]++
				p.mu.Unlock()
				p.boxes[me][m.peer] <- append([]byte(nil), m.data...)
			}
		}
		for _, m := range b.messages {
			if m.receive {
				if data := <-p.boxes[m.peer][me]; copy(m.data, data) != len(data) || len(data) != len(m.data) {
					return fmt.Errorf("got %d bytes, want %d", len(data), len(m.data))
				}
			}
		}
		return nil
	}
}

func (p *post) most() (most int) {
	for _, n := range p.sent {
		most = max(most, n)
	}
	return most
}
