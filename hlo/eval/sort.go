package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// sortKernel orders each line along an axis by a comparator, all operands together, and is always stable.
func sortKernel(c *Call) (*hlo.Literal, error) {
	p, err := c.apply(0)
	if err != nil {
		return nil, err
	}
	if err := p.compares(c.Args); err != nil {
		return nil, err
	}
	dims := dimsOf(c.Args[0].Shape())
	along, err := axis(hlo.AttrsOf[hlo.SortAttrs](c.In).Dimensions, len(dims))
	if err != nil {
		return nil, err
	}
	for _, a := range c.Args {
		if !slices.Equal(dimsOf(a.Shape()), dims) {
			return nil, fmt.Errorf("operands of %v and %v", c.Args[0].Shape(), a.Shape())
		}
	}
	n := dims[along]
	outer := others(len(dims), []int{along})
	perm := append(slices.Clone(outer), along) // lines become contiguous
	back := make([]int, len(perm))
	for i, a := range perm {
		back[a] = i
	}
	data, out := make([][]byte, len(c.Args)), make([][]byte, len(c.Args))
	for i, a := range c.Args {
		data[i] = permuted(bytesOf(a), dims, perm, a.Shape().Type().ByteSize())
		out[i] = make([]byte, len(data[i]))
	}
	sorter := newSorter(p, c.Args, n)
	for line := range product(picked(dims, outer)) {
		order, err := sorter.sort(data, line)
		if err == nil {
			err = c.e.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for i, a := range c.Args {
			w := a.Shape().Type().ByteSize()
			reorder(out[i][line*n*w:(line+1)*n*w], data[i][line*n*w:(line+1)*n*w], order, w)
		}
	}
	parts := make([]*hlo.Literal, len(c.Args))
	for i, a := range c.Args {
		b := permuted(out[i], picked(dims, perm), back, a.Shape().Type().ByteSize())
		if parts[i], err = hlo.NewLiteral(a.Shape(), b); err != nil {
			return nil, err
		}
	}
	return tupleUnlessOne(c.In.Shape(), parts), nil
}

// compares checks that a program compares two elements of each array, left before right.
func (p *program) compares(arrays []*hlo.Literal) error {
	var pairs []*hlo.Literal
	for _, a := range arrays {
		pairs = append(pairs, a, a)
	}
	if err := p.takes(1, pairs...); err != nil {
		return err
	}
	if t := p.types[p.results[0]]; t != hlo.PRED {
		return fmt.Errorf("the comparator gives %v", t)
	}
	return nil
}

func reorder(dst, src []byte, order []int32, w int) {
	switch w {
	case 1:
		reorderElements(dst, src, order)
	case 2:
		reorderElements(view[uint16](dst), view[uint16](src), order)
	case 4:
		reorderElements(view[uint32](dst), view[uint32](src), order)
	case 8:
		reorderElements(view[uint64](dst), view[uint64](src), order)
	default:
		reorderElements(view[complex128](dst), view[complex128](src), order)
	}
}

func reorderElements[E any](dst, src []E, order []int32) {
	for i, k := range order {
		dst[i] = src[k]
	}
}

// sorter sorts lines of n tuples.
type sorter struct {
	p     *program
	f     *frame
	types []hlo.PrimitiveType
	line  []lanes
	order []int32
	spare []int32
	// direct, if set, makes an integer key of the elements of operand key that orders as the comparator does.
	direct func(keys []int64, l *lanes)
	key    int
	keys   []int64
}

func newSorter(p *program, args []*hlo.Literal, n int) *sorter {
	s := &sorter{p: p, f: p.frame(1), order: make([]int32, n), spare: make([]int32, n)}
	for _, a := range args {
		s.types = append(s.types, a.Shape().Type())
		s.line = append(s.line, makeLanes(a.Shape().Type(), n))
	}
	s.key, s.direct = p.sortKey()
	s.keys = make([]int64, n)
	return s
}

// sort returns the positions of the tuples of a line in order.
func (s *sorter) sort(data [][]byte, line int) ([]int32, error) {
	return s.first(data, line, len(s.order))
}

// first returns at least the first k positions of a line in order.
func (s *sorter) first(data [][]byte, line, k int) ([]int32, error) {
	n := len(s.order)
	for i, t := range s.types {
		w := t.ByteSize()
		s.line[i].load(t, data[i][line*n*w:(line+1)*n*w])
	}
	if s.direct != nil {
		s.direct(s.keys, &s.line[s.key])
		return smallest(s.order, s.keys, k), nil
	}
	for i := range s.order {
		s.order[i] = int32(i)
	}
	err := s.merge(s.order, s.spare)
	return s.order, err
}

// smallest returns the positions of the k smallest keys in order, earlier ones first among equals, in the memory of order.
func smallest(order []int32, keys []int64, k int) []int32 {
	if k > len(keys)/8 {
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortStableFunc(order, byKey(keys))
		return order[:k]
	}
	best := order[:0] // sorted; most keys are no smaller than its last
	for i, x := range keys {
		switch {
		case len(best) < k:
			best = append(best, 0)
		case k == 0 || x >= keys[best[k-1]]:
			continue
		}
		at, _ := slices.BinarySearchFunc(best[:len(best)-1], x, func(p int32, x int64) int {
			if keys[p] <= x {
				return -1
			}
			return 1
		})
		copy(best[at+1:], best[at:])
		best[at] = int32(i)
	}
	return best
}

// byKey compares positions by their keys.
func byKey(keys []int64) func(a, b int32) int {
	return func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) }
}

// less asks the comparator about tuples a and b of the line.
func (s *sorter) less(a, b int32) (bool, error) {
	for i := range s.line {
		s.f.param(2*i).take(&s.line[i], int(a), 0)
		s.f.param(2*i+1).take(&s.line[i], int(b), 0)
	}
	err := s.f.run()
	return s.f.result(0).i[0] != 0, err
}

// merge is a top-down merge sort: it asks about a pair once, and ends whatever the comparator answers.
func (s *sorter) merge(v, spare []int32) error {
	if len(v) < 2 {
		return nil
	}
	h := len(v) / 2
	if err := s.merge(v[:h], spare[:h]); err != nil {
		return err
	}
	if err := s.merge(v[h:], spare[h:]); err != nil {
		return err
	}
	left := spare[:copy(spare, v[:h])]
	right := v[h:]
	k := 0
	for len(left) > 0 && len(right) > 0 {
		before, err := s.less(right[0], left[0])
		if err != nil {
			return err
		}
		if before {
			v[k], right = right[0], right[1:]
		} else {
			v[k], left = left[0], left[1:]
		}
		k++
	}
	copy(v[k:], left)
	return nil
}

// sortKey recognises a comparator that compares the two elements of one operand directly, by an order that integers can stand for.
func (p *program) sortKey() (int, func(keys []int64, l *lanes)) {
	if len(p.steps) != 1 || p.order.Direction == hlo.DirectionInvalid || p.slow != nil {
		return 0, nil
	}
	st := p.steps[0]
	at := slices.Index(p.params, st.a)
	if at < 0 || at%2 != 0 || p.params[at+1] != st.b || p.results[0] != st.d {
		return 0, nil
	}
	descending := p.order.Direction == hlo.GT
	if !descending && p.order.Direction != hlo.LT {
		return 0, nil
	}
	t := p.types[st.a]
	turn := func(keys []int64) {
		if descending {
			for i, k := range keys {
				keys[i] = ^k
			}
		}
	}
	switch {
	case classOf(t) == integers && t != hlo.U64 && p.order.Type != hlo.CompareUnsigned || t.IsUnsigned() && t != hlo.U64 || t == hlo.PRED:
		return at / 2, func(keys []int64, l *lanes) { copy(keys, l.i); turn(keys) }
	case t == hlo.U64:
		return at / 2, func(keys []int64, l *lanes) {
			for i, x := range l.i {
				keys[i] = x ^ math.MinInt64
			}
			turn(keys)
		}
	case classOf(t) == floats && p.order.Type == hlo.CompareTotalOrder:
		return at / 2, func(keys []int64, l *lanes) {
			totalOrderKeys(keys, l, nanFirst(t))
			turn(keys)
		}
	}
	return 0, nil
}

// topK is the first k of a stable sort of each line of the last axis by total order, and their indices.
func topK(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.TopKAttrs](c.In)
	return topKOf(c.In.Shape(), c.Args[0], int(a.K), a.Largest)
}

func topKOf(s hlo.Shape, l *hlo.Literal, k int, largest bool) (*hlo.Literal, error) {
	dims := dimsOf(l.Shape())
	if len(dims) == 0 || k < 0 || k > dims[len(dims)-1] || !s.IsTuple() || s.NumElems() != 2 {
		return nil, fmt.Errorf("the first %d of %v", k, l.Shape())
	}
	t, n := l.Shape().Type(), dims[len(dims)-1]
	w, rows := t.ByteSize(), product(dims[:len(dims)-1])
	data := bytesOf(l)
	values, indices := make([]byte, rows*k*w), make([]int64, rows*k)
	line, keys, order := makeLanes(t, n), make([]int64, n), make([]int32, n)
	for r := range rows {
		row := data[r*n*w : (r+1)*n*w]
		line.load(t, row)
		if err := line.orderKeys(t, keys); err != nil {
			return nil, err
		}
		if largest {
			for i := range keys {
				keys[i] = ^keys[i]
			}
		}
		chosen := smallest(order, keys, k)
		reorder(values[r*k*w:(r+1)*k*w], row, chosen, w)
		for i, x := range chosen {
			indices[r*k+i] = int64(x)
		}
	}
	v, err := hlo.NewLiteral(s.Elem(0), values)
	if err != nil {
		return nil, err
	}
	i, err := packInts(s.Elem(1), indices)
	if err != nil {
		return nil, err
	}
	return hlo.NewTupleLiteral(v, i), nil
}

// orderKeys makes integers that order as the elements do, floating ones by total order.
func (l *lanes) orderKeys(t hlo.PrimitiveType, keys []int64) error {
	switch {
	case l.f != nil:
		totalOrderKeys(keys, l, nanFirst(t))
	case t == hlo.U64:
		for i, x := range l.i {
			keys[i] = x ^ math.MinInt64
		}
	case l.i != nil:
		copy(keys, l.i)
	default:
		return fmt.Errorf("%v has no order", t)
	}
	return nil
}
