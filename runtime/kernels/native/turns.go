package native

import "github.com/gohalo/halo/internal/amd64"

// A long body is a chain of steps most of which wait for the one before, and a processor sees little more than a hundred of them ahead: hardly two vectors. So vectors take turns: some
// instructions for the first one, the same for the second and the third, and so on. What a vector holds between turns is in registers, or saved.
//
// On Zen 3 chains of logarithms, powers and polynomials take 0.65 to 0.9 of the time so. Two vectors gain less, and four no more;
// nor do turns of 8 or 32 instructions. Code of 512 bits has not been tried.
const (
	turnVectors = 3
	turnLength  = 16
	leastTurns  = 2 * turnLength // instructions of a body, and more: of less, enough vectors are seen
	mostTurns   = 512            // beyond, the code is longer than it is worth
)

// takesTurns reports whether vectors take turns.
func (e *expansion) takesTurns() bool {
	return !e.wide && !e.pairs && !e.b.across && len(e.b.folds) == 0 && leastTurns < len(e.code) && len(e.code) <= mostTurns
}

// inTurns writes the bodies of all vectors, and returns how many registers are spilled. What the instructions before the loop compute is the same for all.
func (w *wideLoop) inTurns(c *amd64.Code, before []int) (spills int) {
	e := *w.e
	registers := len(e.isMask)
	shared := make([]bool, registers)
	for _, i := range before {
		shared[e.code[i].d] = true
	}
	for _, v := range w.pinned {
		shared[v] = true
	}
	e.code, e.isMask = make([]instr, 0, w.n*len(w.body)), make([]bool, 0, w.n*registers)
	for range w.n {
		e.isMask = append(e.isMask, w.e.isMask...)
	}
	for at := 0; at < len(w.body); at += turnLength {
		for v := range w.n {
			own := func(r *int) {
				if !shared[*r] && *r != 0 { // 0 is none
					*r += v * registers
				}
			}
			for _, i := range w.body[at:min(at+turnLength, len(w.body))] {
				x := w.e.code[i]
				own(&x.d)
				own(&x.x)
				own(&x.y)
				own(&x.k)
				if x.from.kind == inSlot {
					x.from.offset += v * e.bits() / 8 / e.lane * x.from.size
				}
				e.code = append(e.code, x)
			}
		}
	}
	all := e.all()
	a := newAssigner(&e, c, all, e.placesIn(all), w.pinned)
	a.labels = w.labels
	a.write()
	return a.spills
}
