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

// What has two names has moved.

type pair struct{ a, b hlo.Owned[int] }

func places(o, p, q, r hlo.Owned[int], c chan hlo.Owned[int]) {
	_ = pair{a: o}
	_ = []hlo.Owned[int]{p}
	c <- q
	_ = any(r)
	o.Look() // want `o is used after`
	p.Look() // want `p is used after`
	q.Look() // want `q is used after`
	r.Look() // want `r is used after`
}

func blank(o hlo.Owned[int]) { // want blank:"consumes"
	_ = o.Move() // want `the only handle left, and it is thrown away`
}

func ticket(t hlo.Ticket) int { // want ticket:"consumes"
	n := hlo.Redeem(t)
	return n + hlo.Redeem(t) // want `t is used after`
}

// Loops.

func each(all []hlo.Owned[int]) {
	for _, o := range all {
		o.Share()
	}
	var o hlo.Owned[int]
	for _, o = range all {
		o.Share()
	}
	o.Share() // want `o is used after`
}

func moves(o hlo.Owned[int], n int) hlo.Owned[int] { // want moves:"consumes"
	for i := 0; i < n; i++ {
		if i == 3 {
			continue
		}
		o = o.Move()
		if i == 5 {
			break
		}
	}
	return o
}

func sometimes(o hlo.Owned[int], n int) { // want sometimes:"consumes"
	for i := 0; i < n; i++ {
		if i == 3 {
			o.Share() // want `o is used after`
		}
	}
}

func ends(o hlo.Owned[int], n int) int { // want ends:"consumes"
	for {
		if n > 3 {
			return o.Share()
		}
		o.Look()
		n++
	}
}

func labelled(o hlo.Owned[int], n int) { // want labelled:"consumes"
outer:
	for {
		for range n {
			o.Share()
			break outer
		}
		o.Look()
	}
	o.Look() // want `o is used after`
}

func jumps(o hlo.Owned[int], n int) { // want jumps:"consumes"
again:
	o.Look()  // want `o is used after`
	o.Share() // want `o is used after`
	if n > 0 {
		goto again
	}
}

// Branches.

func both(o hlo.Owned[int], c bool) int { // want both:"consumes"
	if c {
		return o.Share()
	} else {
		return o.WithAttr("a").Share()
	}
}

func oneReassigns(o hlo.Owned[int], c bool) int { // want oneReassigns:"consumes"
	if c {
		o.Share()
		o = fresh()
	}
	return o.Look()
}

func inSwitch(o hlo.Owned[int], k int) int { // want inSwitch:"consumes"
	switch k {
	case 1:
		o.Share()
		fallthrough
	case 2:
		return o.Look() // want `o is used after`
	case 3:
		o.Share()
	default:
		return 1
	}
	return o.Look() // want `o is used after`
}

func inType(x any) int {
	switch o := x.(type) {
	case hlo.Owned[int]:
		return o.Share()
	}
	if o, ok := x.(hlo.Owned[int]); ok {
		return o.Share()
	}
	return 0
}

func shortCircuit(o hlo.Owned[int]) bool { // want shortCircuit:"consumes"
	return o.Share() > 1 && o.Look() > 2 // want `o is used after`
}

// Functions in functions.

func captured(o hlo.Owned[int]) { // want captured:"consumes"
	f := func() { o.Share() }
	f()
	o.Look() // want `o is used after`
}

func capturedAgain(o hlo.Owned[int]) int { // want capturedAgain:"consumes"
	f := func() { o = o.WithAttr("a") }
	f()
	return o.Share()
}

func own() func() int {
	return func() int {
		o := fresh()
		o.Share()
		return o.Look() // want `o is used after`
	}
}

func methodValue(o hlo.Owned[int]) int {
	f := o.Share
	o.Look()       // want `o is used after`
	look := o.Look // want `o is used after`
	return f() + look()
}

func deferredMove(o hlo.Owned[int]) int { // want deferredMove:"consumes"
	defer o.Share()
	return o.Look()
}

func inGoroutine(o hlo.Owned[int]) { // want inGoroutine:"consumes"
	go hlo.Take(o)
	o.Look() // want `o is used after`
}

func shadowed(o hlo.Owned[int]) int { // want shadowed:"consumes"
	{
		o := fresh()
		o.Share()
	}
	return o.Share()
}

func swapped(o, p hlo.Owned[int]) int {
	o, p = p, o
	return o.Look() + p.Look()
}

func editors(e *hlo.Editor, c bool) {
	if c {
		e.Freeze()
		return
	}
	e.Set(1)
	e.Freeze()
	e = new(hlo.Editor)
	e.Set(2)
}

var _ = fresh
