package tile

// Moved is how a program that only moves elements, of input 0 to output 0, sees the input; ok is false for other programs.
func (p *Program) Moved() (dims []int64, v View, width int, ok bool) {
	if len(p.loads) != 1 || len(p.stores) != 1 || len(p.steps)+len(p.counters)+len(p.folds)+len(p.tables)+len(p.splats) > 0 {
		return nil, View{}, 0, false
	}
	l, s := &p.loads[0], &p.stores[0]
	if l.arg != 0 || s.out != 0 || l.typ != s.typ || l.reg != s.reg || l.view.Turns != nil {
		return nil, View{}, 0, false
	}
	return p.space.Dims, l.view, l.typ.ByteSize(), true
}

// permutedReach is the number of elements from which on it is worth having them permuted.
const permutedReach = 256

// Permutes reports whether a program that only moves elements has vectors of them permuted, many of which follow each other, and which lie together in memory.
func (p *Program) Permutes() bool {
	l := &p.loads[0]
	if l.mover == nil {
		return false
	}
	m := l.mover()
	return m.permutation != nil && m.period*int(l.along.space.Dims[m.axis]) >= permutedReach && m.permutation.Span() <= 2*m.permutation.Round*l.typ.ByteSize()
}
