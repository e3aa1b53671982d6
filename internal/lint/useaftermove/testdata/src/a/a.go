package a

import "hlo"

func fresh() hlo.Owned[int] { return hlo.Own(new(int)) }

func line(o hlo.Owned[int]) { // want line:"consumes"
	p := o.Move()
	o.Look() // want `o is used after it was moved at line 8`
	p.Look()
}

func chain(o hlo.Owned[int]) int { // want chain:"consumes"
	o = o.WithAttr("a")
	o = o.WithAttr("b").WithAttr("c")
	return o.Share()
}

func twice(o hlo.Owned[int]) { // want twice:"consumes"
	o.Share()
	o.Share() // want `o is used after`
}

func branch(o hlo.Owned[int], c bool) { // want branch:"consumes"
	if c {
		o.Share()
	}
	o.Look() // want `o is used after`
}

func branchReturns(o hlo.Owned[int], c bool) { // want branchReturns:"consumes"
	if c {
		o.Share()
		return
	}
	o.Look()
}

func branchPanics(o hlo.Owned[int], c bool) { // want branchPanics:"consumes"
	if c {
		o.Share()
		panic("x")
	}
	o.Look()
}

func loop(o hlo.Owned[int]) { // want loop:"consumes"
	for range 3 {
		o.Share() // want `o is used after`
	}
}

func loopAssigns(o hlo.Owned[int]) { // want loopAssigns:"consumes"
	for range 3 {
		o = o.WithAttr("a")
	}
	o.Share()
}

func closure(o hlo.Owned[int]) func() int { // want closure:"consumes"
	o.Share()
	return func() int { return o.Look() } // want `o is used by a function made after`
}

func choose(o hlo.Owned[int], c chan int, k int) { // want choose:"consumes"
	select {
	case <-c:
		o.Share()
	default:
	}
	switch k {
	case 1:
		o.Look() // want `o is used after`
	}
}

func deferred(o hlo.Owned[int]) { // want deferred:"consumes"
	defer func() { o.Look() }() // want `o is used by a deferred call after`
	o.Share()
}

func early(o hlo.Owned[int]) { // want early:"consumes"
	defer println(o.Look())
	o.Share()
}

func passes(o, p hlo.Owned[int]) { // want passes:"consumes"
	hlo.Take(o)
	hlo.Forward(1, p)
	o.Look() // want `o is used after`
	p.Look() // want `p is used after`
}

func here(o hlo.Owned[int]) { hlo.Forward(2, o) } // want here:"consumes"

func callsHere(o hlo.Owned[int]) hlo.Owned[int] { // want callsHere:"consumes"
	here(o)
	return o // want `o is used after`
}

func alias(o hlo.Owned[int]) {
	p := o
	var q = p
	o.Look() // want `o is used after`
	p.Look() // want `p is used after`
	q.Look()
}

func thrown(o, p hlo.Owned[int]) { // want thrown:"consumes"
	o.WithAttr("a") // want `the only handle left, and it is thrown away`
	p.Share()
}

func address(o hlo.Owned[int]) *hlo.Owned[int] {
	return &o // want `the address of linear variable o`
}

func stored(o hlo.Owned[int], c chan hlo.Owned[int]) any { // want stored:"consumes"
	o.Share()
	c <- o                               // want `o is used after`
	return struct{ x hlo.Owned[int] }{o} // want `o is used after`
}

func editor(e *hlo.Editor) int {
	n := e.Freeze()
	e.Set(1) // want `e is used after`
	return n + e.Stats()
}

func allowed(o hlo.Owned[int]) { // want allowed:"consumes"
	o.Share()
	o.Look() //halo:allow useaftermove to see it panic
}

var _ = fresh
