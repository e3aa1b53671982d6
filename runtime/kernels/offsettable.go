package kernels

import "sync"

// offsetTable is the offsets of all index combinations of some axes, in row-major order of those axes. Those that follow each other evenly need no
// list; others are listed when a run first asks, not when the program is loaded.
type offsetTable struct {
	count int
	step  int // from one to the next, 0 if that differs or there is one at most
	list  func() []int
}

func newOffsetTable(axes []int64, dims []int64, strides []int) *offsetTable {
	s := &offsetTable{count: productOver(axes, dims), list: sync.OnceValue(func() []int { return offsetsOver(axes, dims, strides) })}
	next, known := 0, false // the step at which an axis goes on where the ones behind it end
	for i := len(axes) - 1; i >= 0; i-- {
		switch a := axes[i]; {
		case dims[a] == 1:
		case !known:
			s.step, next, known = strides[a], strides[a]*int(dims[a]), true
		case strides[a] != next:
			s.step = 0
			return s
		default:
			next *= int(dims[a])
		}
	}
	return s
}

// together reports whether offsets are 0, n, 2n and so on.
func (s *offsetTable) together(n int) bool { return s.count <= 1 || s.step == n }
