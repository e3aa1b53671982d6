package hlo

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inParallel runs f on every session, on so many goroutines.
func inParallel(workers int, all []*Editor, f func(*Editor)) {
	var next atomic.Int32
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				f(all[i])
			}
		})
	}
	wg.Wait()
}

var manyVersions = flag.Int("versions", 2_000, "versions that TestReadersAndWriter publishes")

// TestReadersAndWriter: readers digest, hash, index and iterate all versions while a writer publishes more; every reader sees the
// same digests. At full scale:
//
//	go test ./hlo -race -run ReadersAndWriter -versions 100000 -timeout 1h
func TestReadersAndWriter(t *testing.T) {
	versions := *manyVersions
	if testing.Short() {
		versions = min(versions, 200)
	}
	const readers = 8
	m := topkModule(t, 300)
	feeds := make([]chan Module, readers)
	sums := make([][]Digest, readers)
	var wg sync.WaitGroup
	for r := range feeds {
		feeds[r] = make(chan Module, 16)
		wg.Go(func() {
			for m := range feeds[r] {
				m.Hash()
				if c := m.Entry(); (len(sums[r])+r)%16 == 0 {
					c.UserCount(0)
					n := 0
					for in := range c.Instructions() {
						n += in.NumOperands()
					}
					for range c.PostOrder() {
						n++
					}
				}
				sums[r] = append(sums[r], m.Digest())
			}
		})
	}
	e := m.Edit()
	inserted := NoInstr
	for v := range versions {
		c := e.Computation(0)
		c.Instr(1+scattered(v, 299)).SetAttr("k", int64(v))
		if v%7 == 0 { // the computation does not grow, so that every version costs the same
			if inserted != NoInstr {
				require.NoError(t, c.Remove(inserted))
			}
			inserted = c.InsertBefore(scattered(v, 299), OpAbs, f32, 0).ID()
		}
		if v%11 == 0 {
			c.Instr(5).SetShape(shapes[v&1]).SetOperands(0, InstrID(v%3))
		}
		s := e.Snapshot()
		for _, f := range feeds {
			f <- s
		}
	}
	for _, f := range feeds {
		close(f)
	}
	wg.Wait()
	for r := range sums {
		require.Equal(t, sums[0], sums[r])
	}
}

// manyComps is a module of n computations c, c.1, ... with a parameter and an abs of it each, the last one calling the others.
func manyComps(tb testing.TB, n int) (Module, []CompID) {
	tb.Helper()
	e := NewModule("m")
	all := make([]CompID, n)
	for i := range all {
		b := e.NewComputation("c")
		p := b.Append(InstrSpec{Opcode: OpParameter, Name: "p", Shape: f32, Attrs: &ParameterAttrs{}})
		for _, callee := range all[:i] {
			if i == n-1 {
				b.Append(InstrSpec{Opcode: OpCall, Shape: f32, Operands: []InstrID{p}, Callees: []CompID{callee}})
			}
		}
		b.Append(InstrSpec{Opcode: OpAbs, Shape: f32, Operands: []InstrID{p}})
		all[i] = b.Finish(NoInstr)
	}
	e.SetEntry(all[n-1])
	return e.Freeze(), all
}

// TestForkJoin: what children do in parallel is what they do one after the other, names included.
func TestForkJoin(t *testing.T) {
	m, all := manyComps(t, 16)
	work := func(c *Editor) {
		ce := c.Computation(c.fork.lent)
		x := ce.Add(OpNegate, f32, 0)
		x.SetName("p")
		ce.SetRoot(x.ID())
		h := c.NewComputation("helper")
		h.Append(InstrSpec{Opcode: OpParameter, Name: "p", Shape: f32, Attrs: &ParameterAttrs{}})
		ce.Add(OpCall, f32, 0).SetCallees(h.Finish(NoInstr))
		s := c.Snapshot()
		ce.Add(OpSine, f32, 0)
		c.Rollback(s)
		c.Computation(c.fork.lent).Instr(x.ID()).SetName("q")
	}
	run := func(workers int) Module {
		e := m.Edit()
		children := e.Fork(all...)
		inParallel(workers, children, work)
		require.NoError(t, e.Join(children...))
		return e.Freeze()
	}
	want := run(1)
	assert.Equal(t, 32, want.NumComputations())
	for range 10 {
		require.Equal(t, want.Digest(), run(4).Digest())
	}
	names := make(map[string]bool)
	for c := range want.Computations() {
		assert.False(t, names["%"+c.Name()], c.Name())
		names["%"+c.Name()] = true
		for in := range c.Instructions() {
			assert.False(t, names[in.Name()], in.Name())
			names[in.Name()] = true
		}
	}
	e := want.Edit()
	assert.Equal(t, "q.16", e.Computation(0).Add(OpAbs, f32).SetName("q").Name())
	assert.Equal(t, "helper.16", e.AddComputation("helper").Name())
}

func TestForkRefuses(t *testing.T) {
	m, all := manyComps(t, 3)
	other, _ := manyComps(t, 3)
	e := m.Edit()
	kept := e.Computation(0)
	children := e.Fork(all[:2]...)
	a, b := children[0], children[1]
	for want, f := range map[string]func(){
		`hlo: use of an Editor between Fork and Join`:                       func() { e.SetName("x") },
		`hlo: use of a computation edit after Fork`:                         func() { kept.SetRoot(0) },
		`hlo: computation "c.1" was not lent to this fork`:                  func() { a.Computation(1) },
		`hlo: computation "c.2" was not lent to this fork`:                  func() { b.Computation(2) },
		`hlo: SetEntry in a fork, which may edit its own computations only`: func() { a.SetEntry(1) },
		`hlo: SetName in a fork, which may edit its own computations only`:  func() { a.SetName("x") },
		`hlo: Own in a fork, which may edit its own computations only`:      func() { a.Own() },
		`hlo: Freeze of a fork; Join it to the session it came from`:        func() { a.Freeze() },
		`hlo: Fork of a fork`: func() { a.Fork(0) },
		`hlo: RemoveComputation of "c" in a fork that did not add it`: func() { a.RemoveComputation(0) },
		`hlo: Fork lends computation "c" twice`:                       func() { m.Edit().Fork(0, 0) },
	} {
		assert.PanicsWithValue(t, want, f)
	}
	assert.Equal(t, "c.2", a.View(2).Name(), "reading is allowed")
	assert.ErrorContains(t, e.Join(a, a), "twice")
	assert.ErrorContains(t, e.Join(a, m.Edit()), "not an open fork")
	b.Rollback(other)
	assert.ErrorContains(t, e.Join(a, b), "rolled back to another module")
	s := a.Snapshot()
	x := s.Edit()
	x.Computation(2).SetRoot(0)
	a.Rollback(x.Freeze())
	assert.ErrorContains(t, e.Join(a), "changed computation \"c.2\"")
	a.Rollback(s)
	a.Computation(0).SetRoot(0)
	require.NoError(t, e.Join(a))
	assert.PanicsWithValue(t, "hlo: use of an Editor after Join", func() { b.View(1) })
	m2 := e.Freeze()
	assert.True(t, m2.MustComputation(0).MustAt(0).IsRoot())
	assert.Equal(t, m.MustComputation(1), m2.MustComputation(1), "the other fork was dropped")
}

// TestJoinKnowsNewCalls: who calls whom is what the children made of it.
func TestJoinKnowsNewCalls(t *testing.T) {
	m, all := manyComps(t, 3)
	e := m.Edit()
	x := e.AddComputation("x").ID()
	y := e.AddComputation("y").ID()
	e.RemoveComputation(y) // counts the calls
	children := e.Fork(all[0])
	children[0].Computation(all[0]).Add(OpCall, f32).SetCallees(x)
	require.NoError(t, e.Join(children...))
	assert.Panics(t, func() { e.RemoveComputation(x) })
}

// TestTwoSessionsFromOneBase: neither sees the other, names included.
func TestTwoSessionsFromOneBase(t *testing.T) {
	m := chainModule(t, 50)
	var wg sync.WaitGroup
	out := make([]Module, 4)
	for i := range out {
		wg.Go(func() {
			e := m.Edit()
			for k := range 20 {
				e.Computation(0).InsertBefore(InstrID(k+2), OpNegate, f32, 0)
			}
			out[i] = e.Freeze()
		})
	}
	wg.Wait()
	for _, o := range out {
		assert.Equal(t, out[0].Digest(), o.Digest())
		assert.Equal(t, "negate.49", fmt.Sprint(o.Entry().MustAt(50).Name()))
	}
}
