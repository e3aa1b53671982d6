package vec

import (
	"sync/atomic"
	"unsafe"
)

// Loop computes n elements at d from as many at a, b and c; pointers beyond its arity are not looked at. d may be one of the others if
// their elements are as wide.
type Loop = func(n int, d, a, b, c unsafe.Pointer)

// Level is an instruction set.
type Level int32

// The levels, each of which has all that the ones before have.
const (
	Portable Level = iota
	AVX2           // with FMA
	AVX512         // F, BW, DQ, VL
)

func (l Level) String() string { return [...]string{"portable", "avx2", "avx512"}[l] }

// level is the one in use.
var level atomic.Int32

func init() { level.Store(int32(Best())) }

// InUse is the level at which loops are found: [Best], unless a test has chosen another.
func InUse() Level { return Level(level.Load()) }

// Use makes Find work as on a processor with less, and returns what undoes that. It is for tests; loops that have been found already
// stay what they are. Levels above Best change nothing.
func Use(l Level) (restore func()) {
	before := level.Swap(int32(min(l, Best())))
	return func() { level.Store(before) }
}

// row is a line of a level's table.
type row struct {
	name Name
	kernel
}

// byName is the table as a map.
func byName(rows []row) map[Name]kernel {
	m := make(map[Name]kernel, len(rows))
	for _, r := range rows {
		m[r.name] = r.kernel
	}
	return m
}

// kernel is a loop in assembly. If step is not 0 it computes the largest multiple of step that is at most n, and leaves the rest.
type kernel struct {
	loop  Loop
	step  int
	sizes [4]int // of elements of d, a, b and c, if step is set; 0 for those that it has not
}

// Find returns the loop with this name at the level in use, or portable if there is none.
//
// Where a loop in assembly leaves a rest, portable computes it, so both must give the same results.
func Find(name Name, portable Loop) Loop {
	k := find(InUse(), name)
	switch {
	case k.loop == nil:
		return portable
	case k.step == 0:
		return k.loop
	case portable == nil:
		return nil
	}
	loop, step, sizes := k.loop, k.step, k.sizes
	return func(n int, d, a, b, c unsafe.Pointer) {
		whole := n / step * step
		if whole > 0 {
			loop(whole, d, a, b, c)
		}
		if whole < n {
			portable(n-whole, unsafe.Add(d, whole*sizes[0]), after(a, whole*sizes[1]), after(b, whole*sizes[2]), after(c, whole*sizes[3]))
		}
	}
}

// Has reports whether there is a loop in assembly of this name at the level in use.
func Has(name Name) bool { return find(InUse(), name).loop != nil }

// after moves a pointer that may not be in use.
func after(p unsafe.Pointer, bytes int) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p, bytes)
}
