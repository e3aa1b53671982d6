package native

import (
	"math"
	"slices"

	"github.com/gohalo/halo/internal/amd64"
)

// assigner gives virtual registers the processor's while it writes the instructions of a loop's body, which has no branches: a register is
// free again behind the last instruction that names it, and when there is none, that is put into memory which is needed last.
type assigner struct {
	*expansion
	c      *amd64.Code
	body   []int   // of expansion.code
	places [][]int // of each virtual register, in the body, that are still to come; shared with others
	at     []int   // its register, or -1
	slot   []int   // its place in the spill area, or -1
	saved  []bool  // that place holds it
	free   [2][]amd64.Reg
	holder [2][32]int // of each register, 0 if it is free or pinned
	spills int
	moved  bool // something had to be put into memory
	most   int  // vectors held at once
	held   int
	taken  uint32        // registers that have held vectors, a bit each
	labels []amd64.Label // of the constants
	copy   int           // which of several vectors that are computed together
	chains []amd64.Reg   // the first register with chains of each fold, if they are not in memory
	half   *halves       // what becomes of the body where bf16 is taken by halves, or nil
	near   bool          // nothing is stored past the caches
	tail   bool          // only some elements of memory are touched, as mask register tailMask says
}

const (
	vectors = iota
	masks
)

func (a *assigner) class(v int) int {
	if a.isMask[v] {
		return masks
	}
	return vectors
}

// placesIn is where each virtual register is named in a body.
func (e *expansion) placesIn(body []int) [][]int {
	all := make([]int, 0, 4*len(body))
	ends := make([]int, len(e.isMask)+1)
	for _, i := range body {
		for _, v := range e.code[i].registers() {
			ends[v]++
		}
	}
	places, at := make([][]int, len(e.isMask)), 0
	for v := 1; v < len(places); v++ {
		places[v] = all[at : at : at+ends[v]]
		at += ends[v]
	}
	for p, i := range body {
		for _, v := range e.code[i].registers() {
			if l := places[v]; v != 0 && (len(l) == 0 || l[len(l)-1] < p) {
				places[v] = append(l, p)
			}
		}
	}
	return places
}

// newAssigner prepares for a body, in which registers have places, with vectors that are pinned to registers from the top.
func newAssigner(e *expansion, c *amd64.Code, body []int, places [][]int, pinned []int) *assigner {
	n := len(e.isMask)
	numbers := make([]int, 2*n)
	a := &assigner{expansion: e, c: c, body: body, places: slices.Clone(places), at: numbers[:n], slot: numbers[n:], saved: make([]bool, n)}
	for i := range numbers {
		numbers[i] = -1
	}
	top := 16
	if e.wide {
		top = 32
	}
	for _, v := range pinned {
		top--
		a.at[v] = top
		a.places[v] = always
	}
	free := make([]amd64.Reg, 0, 32+tailMask)
	a.free = [2][]amd64.Reg{free[:0:32], free[32:32]}
	for r := top - 1; r >= 0; r-- {
		a.free[vectors] = append(a.free[vectors], amd64.Reg(r))
	}
	last := tailMask
	if e.pairs {
		last = secondMask
		if e.lane == 8 {
			last = firstMask
		}
	}
	for k := last - 1; k > 0; k-- { // the first one means none
		a.free[masks] = append(a.free[masks], k)
	}
	return a
}

// always are the places of what is pinned.
var always = []int{math.MaxInt}

func (i *instr) registers() [4]int { return [4]int{i.d, i.x, i.y, i.k} }

// isPinned says that a register is not given to anything else.
func (a *assigner) isPinned(v int) bool {
	return len(a.places[v]) > 0 && a.places[v][len(a.places[v])-1] == math.MaxInt
}

// next is the next place of v behind p.
func (a *assigner) next(v, p int) int {
	for len(a.places[v]) > 0 && a.places[v][0] <= p {
		a.places[v] = a.places[v][1:]
	}
	if len(a.places[v]) == 0 {
		return math.MaxInt
	}
	return a.places[v][0]
}

// write writes the body.
func (a *assigner) write() {
	for p, i := range a.body {
		if a.half == nil || !a.onHalf(p, i) {
			a.instruction(p, &a.code[i])
		}
	}
}

func (a *assigner) instruction(p int, i *instr) {
	if i.from.kind == inChains && a.chains != nil {
		a.onChain(p, i)
		return
	}
	sources := [4]int{i.x, i.y, i.k}
	if i.reads {
		sources[3] = i.d
	}
	for _, v := range sources {
		if v != 0 && a.at[v] < 0 {
			a.take(v, p, i)
			a.restore(v)
		}
	}
	if a.renames(p, i) {
		return
	}
	var r [3]amd64.Reg // of x, y, k
	for n, v := range sources[:3] {
		if v != 0 {
			r[n] = amd64.Reg(a.at[v])
		}
	}
	a.release(p, sources[:]...)
	if i.d != 0 {
		if a.at[i.d] < 0 {
			a.take(i.d, p, i)
		}
		a.saved[i.d] = false
	}
	a.emit(i, r)
	a.release(p, i.d)
}

// renames takes the register of a vector that is copied, if nothing else needs it.
func (a *assigner) renames(p int, i *instr) bool {
	if i.kind != onVectors || !i.op.Moves() || i.y == 0 || i.d == 0 || i.d == i.y || i.k != 0 || a.isPinned(i.y) || a.next(i.y, p) != math.MaxInt || a.isPinned(i.d) {
		return false
	}
	if a.at[i.d] >= 0 {
		a.drop(i.d)
	}
	r := a.at[i.y]
	a.at[i.d], a.at[i.y] = r, -1
	a.holder[vectors][r] = i.d
	a.saved[i.d] = false
	a.release(p, i.d)
	return true
}

// release frees the registers of what no instruction behind p names.
func (a *assigner) release(p int, list ...int) {
	for _, v := range list {
		if v != 0 && a.at[v] >= 0 && !a.isPinned(v) && a.next(v, p) == math.MaxInt {
			a.drop(v)
		}
	}
}

func (a *assigner) drop(v int) {
	c := a.class(v)
	a.free[c] = append(a.free[c], amd64.Reg(a.at[v]))
	a.holder[c][a.at[v]] = 0
	a.at[v] = -1
	if c == vectors {
		a.held--
	}
}

// take finds a register for v, which instruction i, at p, names.
func (a *assigner) take(v, p int, i *instr) {
	c := a.class(v)
	if len(a.free[c]) == 0 {
		a.evict(c, p, i)
	}
	last := len(a.free[c]) - 1
	r := a.free[c][last]
	a.free[c] = a.free[c][:last]
	a.at[v] = int(r)
	a.holder[c][r] = v
	if c == vectors {
		a.taken |= 1 << r
		a.held++
		a.most = max(a.most, a.held)
	}
}

// evict frees the register of a class whose value is needed last, and not by i.
func (a *assigner) evict(c, p int, i *instr) {
	worst, far := 0, -1
	for _, v := range a.holder[c] {
		if v == 0 || v == i.x || v == i.y || v == i.k || v == i.d {
			continue
		}
		if n := a.next(v, p-1); n > far {
			worst, far = v, n
		}
	}
	if a.slot[worst] < 0 {
		a.slot[worst] = a.spills
		a.spills++
	}
	a.moved = true
	if !a.saved[worst] {
		a.save(worst)
		a.saved[worst] = true
	}
	a.drop(worst)
}
