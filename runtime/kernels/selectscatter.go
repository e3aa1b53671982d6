package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime"
)

// selectAndScatter serves selections by one comparison and recognised ops, as gradients of pooling are.
func selectAndScatter(s *site) (runtime.Bound, bool) {
	choose, ok := s.m.Computation(s.in.Callee(0))
	combine, ok2 := s.m.Computation(s.in.Callee(1))
	t := s.in.Shape().Type()
	if !ok || !ok2 || s.shape(0).Type() != t || s.shape(1).Type() != t {
		return runtime.Bound{}, false
	}
	op, ok := binaryOf(combine)
	if !ok || combine.Root().Shape().Type() != t {
		return runtime.Bound{}, false
	}
	keeps, ok := selection(choose, t)
	if !ok {
		return runtime.Bound{}, false
	}
	switch t {
	case hlo.BF16:
		return selectScatterAs(s, hlo.F32, roundedFold(op, minifloat.BF16), keeps)
	case hlo.F16:
		return selectScatterAs(s, hlo.F32, roundedFold(op, minifloat.F16), keeps)
	case hlo.F32:
		return selectScatterAs(s, t, foldOf[float32](op), keeps)
	case hlo.F64:
		return selectScatterAs(s, t, foldOf[float64](op), keeps)
	case hlo.S32:
		return selectScatterAs(s, t, integerFoldOf[int32](op), keeps)
	case hlo.S64:
		return selectScatterAs(s, t, integerFoldOf[int64](op), keeps)
	}
	return runtime.Bound{}, false
}

// selection understands a comparison of what a window has chosen so far with the next element: it says when the first stays.
func selection(c hlo.Computation, t hlo.PrimitiveType) (hlo.Direction, bool) {
	root := c.Root()
	if root.Opcode() != hlo.OpCompare || c.NumParameters() != 2 {
		return 0, false
	}
	a := hlo.AttrsOf[hlo.CompareAttrs](root)
	if a.Type != hlo.CompareDefault && a.Type != hlo.DefaultCompareType(t) {
		return 0, false
	}
	p0, ok0 := root.OperandInstr(0).ParameterNumber()
	p1, ok1 := root.OperandInstr(1).ParameterNumber()
	if !ok0 || !ok1 || p0 == p1 || root.OperandInstr(0).Shape().Type() != t {
		return 0, false
	}
	d := a.Direction
	if p0 == 1 {
		d = map[hlo.Direction]hlo.Direction{hlo.GE: hlo.LE, hlo.GT: hlo.LT, hlo.LE: hlo.GE, hlo.LT: hlo.GT}[d]
	}
	return d, d == hlo.GE || d == hlo.GT || d == hlo.LE || d == hlo.LT
}

// roundedFold is a fold of numbers of a narrow format that rounds each result.
func roundedFold(op hlo.Opcode, to minifloat.Format) *fold[float32] {
	f := foldOf[float32](op)
	if f == nil {
		return nil
	}
	return foldBy(func(x, y float32) float32 { return to.Float32(to.FromFloat32(f.pair(x, y))) })
}

// selectScatter finds for each run of windows the elements that they choose, and combines the source's into their places.
type selectScatter[T realNumber] struct {
	windowRuns
	keeps              hlo.Direction
	pair               func(x, y T) T
	adds               bool
	line               bool // there are no runs, and windows are taken line by line
	array, src, init   place
	to                 place
	rowsEach, outsEach int // positions, and elements of the result, that belong to one index of the leading axes the window does not move on
	loop               *parallelLoop
	choices            sync.Pool
}

// choice is what the windows of a run or of a line have chosen so far: values, and their places or -1.
type choice[T realNumber] struct {
	value []T
	at    []int32
}

func selectScatterAs[T realNumber](s *site, t hlo.PrimitiveType, f *fold[T], keeps hlo.Direction) (runtime.Bound, bool) {
	array, source := s.shape(0), s.shape(1)
	runs, ok := newWindowRuns(hlo.AttrsOf[hlo.WindowAttrs](s.in).Window, array, source)
	if !ok || f == nil || runs.anyDilated() || source.NumElements() == 0 || array.NumElements() > 1<<31-1 {
		return runtime.Bound{}, false
	}
	e := &convertedIO{t: t}
	if !e.plan(s) {
		return runtime.Bound{}, false
	}
	combine, _ := s.m.Computation(s.in.Callee(1))
	x := &selectScatter[T]{windowRuns: runs, keeps: keeps, pair: f.pair, array: e.in[0], src: e.in[1], init: e.in[2], to: e.out}
	x.adds = combine.Root().Opcode() == hlo.OpAdd && s.in.Shape().Type() == t
	x.line = x.run == 1 && len(x.window) > 0
	tasks := 1
	for d := range x.window {
		if !isIdle(&x.window[d]) {
			break
		}
		tasks *= x.out[d]
	}
	x.rowsEach, x.outsEach = x.rows/tasks, int(array.NumElements())/tasks
	n := x.run
	if x.line {
		n = x.out[len(x.out)-1]
	}
	x.choices.New = func() any { return &choice[T]{make([]T, n), make([]int32, n)} }
	x.loop = newParallelLoop(x.tasks)
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		x.loop.run(f, tasks, 1+(1<<14)/(1+x.outsEach))
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}, true
}

func (x *selectScatter[T]) tasks(f *runtime.TensorFrame, lo, hi int) {
	array, src, out := elems[T](x.array.of(f)), elems[T](x.src.of(f)), elems[T](x.to.of(f))
	init := elems[T](x.init.of(f))[0]
	mine := out[lo*x.outsEach : hi*x.outsEach]
	for i := range mine {
		mine[i] = init
	}
	c := x.choices.Get().(*choice[T])
	n := len(c.value)
	for at := lo * x.rowsEach * x.run; at < hi*x.rowsEach*x.run; at += n {
		if x.line {
			x.chooseLine(c, array, at/n)
		} else if !x.chooseRun(c, array, at/n) {
			continue
		}
		x.combine(out, src[at:][:n], c.at)
	}
	x.choices.Put(c)
}

// combine puts elements of the source into their places; a window without elements has none.
func (x *selectScatter[T]) combine(out, src []T, at []int32) {
	at = at[:len(src)]
	if x.adds {
		for i, v := range src {
			if p := at[i]; p >= 0 {
				out[p] += v
			}
		}
		return
	}
	for i, v := range src {
		if p := at[i]; p >= 0 {
			out[p] = x.pair(out[p], v)
		}
	}
}

// stays reports whether the element chosen so far is preferred to the next.
func stays[T realNumber](keeps hlo.Direction, chosen, next T) bool {
	switch keeps {
	case hlo.GE:
		return chosen >= next
	case hlo.GT:
		return chosen > next
	case hlo.LE:
		return chosen <= next
	}
	return chosen < next
}

// chooseRun finds what the windows of a run choose. It reports false if they have no elements.
func (x *selectScatter[T]) chooseRun(c *choice[T], array []T, row int) bool {
	w, ok := x.windowAt(row)
	if !ok {
		return false
	}
	value, at, keeps := c.value, c.at[:len(c.value)], x.keeps
	copy(value, array[w.off:])
	for i := range at {
		at[i] = int32(w.off + i)
	}
	for last := len(x.window) - 1; w.next(last); {
		off := int32(w.off)
		for i, v := range array[w.off:][:len(value)] {
			if !stays(keeps, value[i], v) {
				value[i], at[i] = v, off+int32(i)
			}
		}
	}
	return true
}

// chooseLine finds what the windows along the last axis choose, element by element of the windows.
func (x *selectScatter[T]) chooseLine(c *choice[T], array []T, line int) {
	value, at, keeps := c.value, c.at[:len(c.value)], x.keeps
	for i := range at {
		at[i] = -1
	}
	last := len(x.window) - 1
	w := &x.window[last]
	stride := int(w.Stride)
	outer := windowRuns{window: x.window[:last], out: x.out[:last], in: x.in[:last], stride: x.stride[:last], spans: x.spans[:last]}
	outer.each(line, func(off int) {
		for k := range int(w.Size) {
			first, end, from := positionsOf(w, k, len(value), x.in[last])
			from += off + first*stride
			for p := first; p < end; p++ {
				v := array[from]
				if at[p] < 0 || !stays(keeps, value[p], v) {
					value[p], at[p] = v, int32(from)
				}
				from += stride
			}
		}
	})
}
