package native

// share leaves out instructions that compute what an instruction before them has computed, and then those of which nothing needs the result. Recipes
// know nothing of each other: a product of complex numbers converts what their magnitude has converted. Constants are not shared: it takes less to load one
// again than to keep a register for it.
func (e *expansion) share() {
	definitions := e.definitions()
	version := make([]int, len(definitions)) // how often a register has been written so far
	same := make([]int, len(definitions))    // the register in place of another
	first := make(map[computation]int)       // the register with the result
	kept := e.code[:0]
	for i := range e.code {
		x := e.code[i]
		for _, v := range []*int{&x.x, &x.y, &x.k} {
			if same[*v] != 0 {
				*v = same[*v]
			}
		}
		c := computation{x, [3]int{version[x.x], version[x.y], version[x.k]}}
		version[x.d]++
		if x.d == 0 || definitions[x.d] > 1 || x.from.kind == inSlot || x.from.kind == inChains || x.from.kind == inPool && x.op.Moves() {
			kept = append(kept, x)
			continue
		}
		c.d = 0
		if d, ok := first[c]; ok && e.isMask[d] == e.isMask[x.d] {
			same[x.d] = d
			continue
		}
		first[c] = x.d
		kept = append(kept, x)
	}
	e.code = kept
	e.prune()
}

// computation is an instruction but for the register with its result, and which values of its operands it takes.
type computation struct {
	instr
	versions [3]int
}

// definitions are how often instructions write each register.
func (e *expansion) definitions() []int {
	n := make([]int, len(e.isMask))
	for i := range e.code {
		n[e.code[i].d]++
	}
	return n
}

// prune leaves out what neither a store nor one of results needs.
func (e *expansion) prune(results ...int) {
	needed := make([]bool, len(e.isMask))
	for _, v := range results {
		needed[v] = true
	}
	at := len(e.code)
	for i := len(e.code) - 1; i >= 0; i-- {
		x := &e.code[i]
		if x.d != 0 && !needed[x.d] {
			continue
		}
		if !x.reads { // nor clears what was there
			needed[x.d] = false
		}
		needed[x.x], needed[x.y], needed[x.k] = true, true, true
		at--
		e.code[at] = *x
	}
	e.code = e.code[at:]
}
