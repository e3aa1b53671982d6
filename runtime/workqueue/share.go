package workqueue

import "sync/atomic"

// Processors that share no cache pay for what one has written and another reads or writes: with two of them on two parts of a package, a product of two matrices took 1.2 times
// as long. So a worker begins with those blocks of a loop that the same processor had in the loops before, and takes others' when it has done them. Arrays of one
// size are divided in the same way by each op.

// share is blocks of a loop that workers on one processor claim first.
type share struct {
	next atomic.Int64 // first unclaimed block
	end  int64
	_    [48]byte // no two on a line of the cache
}

// divide gives each worker a share of the blocks, in order.
func (l *loop) divide(workers int) {
	if cap(l.shares) < workers {
		l.shares = make([]share, workers)
	}
	l.shares = l.shares[:workers]
	for i := range l.shares {
		s := &l.shares[i]
		s.next.Store(int64(i) * l.blocks / int64(workers))
		s.end = int64(i+1) * l.blocks / int64(workers)
	}
}

// ownShare is the share of who runs on a processor, which may be -1 for unknown.
func (l *loop) ownShare(processor int32) int { return int(max(processor, 0)) % len(l.shares) }

// claim takes a block: one of the own share, or of the next one that has any left.
func (l *loop) claim(own int) (block int64, ok bool) {
	for i := range l.shares {
		s := &l.shares[(own+i)%len(l.shares)]
		if s.next.Load() < s.end {
			if block = s.next.Add(1) - 1; block < s.end {
				return block, true
			}
		}
	}
	return 0, false
}

// isLeft reports whether blocks are left to claim.
func (l *loop) isLeft() bool {
	for i := range l.shares {
		if s := &l.shares[i]; s.next.Load() < s.end {
			return true
		}
	}
	return false
}
