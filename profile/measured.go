package profile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Read reads the profiles that halo profile --json wrote, one for each program that was measured. They have no timeline, which that form leaves out.
func Read(in io.Reader) (all []*Profile, err error) {
	decoder := json.NewDecoder(in)
	for {
		var record struct {
			Profile *Profile `json:"profile"`
		}
		switch err := decoder.Decode(&record); {
		case errors.Is(err, io.EOF) && len(all) == 0:
			return nil, errors.New("no profile is in it; halo profile --json writes one")
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("not what halo profile --json writes: %w", err)
		case record.Profile == nil:
			continue // of a program that failed
		}
		if p := record.Profile; p.Tree != nil && !p.Tree.within(len(p.Ops)) {
			return nil, fmt.Errorf("the profile of %s names an op that it does not have", p.Module)
		}
		all = append(all, record.Profile)
	}
}

// within reports whether all ops of a tree are among the first n.
func (n *Node) within(ops int) bool {
	if n.Op < -1 || n.Op >= ops {
		return false
	}
	for _, c := range n.Children {
		if c == nil || !c.within(ops) {
			return false
		}
	}
	return true
}

// Measured is what a profile measured of one instruction, in seconds of a run.
type Measured struct {
	Calls   float64
	Seconds float64 // of all that passes made of it
	// Within names what was measured if other instructions are in it, too: a fusion that passes made, or a loop that is compiled to one program. Seconds
	// are then those of the whole.
	Within []string
}

// Measurements finds the times of a profile for the instructions of a module: the one that was measured, or the text that it was compiled from.
type Measurements struct {
	p      *Profile
	exact  map[nameInComputation][]int // ops, by the names that they ran under
	text   map[string][]int            // ops, by the names of the text that they stand for
	unique map[string]bool             // names that one instruction of the module has
	loop   map[hlo.CompID]int          // the compiled loop that a computation belongs to
	work   map[int]float64             // by a start: what its chain computed, in seconds of a run
}

type nameInComputation struct{ computation, name string }

// For returns the measurements of a profile for m. None is found for instructions that did not run as they are in m.
func (p *Profile) For(m hlo.Module) *Measurements {
	t := &Measurements{p: p, exact: map[nameInComputation][]int{}, text: map[string][]int{}, unique: map[string]bool{}, loop: map[hlo.CompID]int{}, work: map[int]float64{}}
	for i := range p.Ops {
		o := &p.Ops[i]
		key := nameInComputation{o.Computation, o.ran()}
		t.exact[key] = append(t.exact[key], i)
		if len(o.Of) == 0 {
			t.text[o.Name] = append(t.text[o.Name], i)
		}
		for _, name := range o.Of {
			t.text[name] = append(t.text[name], i)
		}
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			_, seen := t.unique[in.Name()]
			t.unique[in.Name()] = !seen
		}
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if list := t.find(in, Loop_); len(list) == 1 && p.Ops[list[0]].Compiled {
				t.inLoop(m, in, list[0])
			}
		}
	}
	if p.Tree != nil {
		t.chains(p.Tree)
	}
	return t
}

// inLoop notes that what an instruction calls belongs to a compiled loop.
func (t *Measurements) inLoop(m hlo.Module, in hlo.Instruction, loop int) {
	for id := range in.Callees() {
		if _, known := t.loop[id]; known {
			continue
		}
		t.loop[id] = loop
		c, _ := m.Computation(id)
		for x := range c.Instructions() {
			t.inLoop(m, x, loop)
		}
	}
}

// chains sums up what runs beside the starts below a node.
func (t *Measurements) chains(n *Node) {
	for _, c := range n.Children {
		if c.Parallel && c.Op >= 0 && t.p.Ops[c.Op].Kind == Start {
			t.work[c.Op] += c.Seconds
		}
		t.chains(c)
	}
}

// find lists the ops of an instruction that are of the given kinds: the one that ran under its name in its computation, else those that stand for the
// instruction of that name in the text.
func (t *Measurements) find(in hlo.Instruction, kinds ...Kind) []int {
	for _, k := range t.exact[nameInComputation{in.Computation().Name(), in.Name()}] {
		if o := &t.p.Ops[k]; slices.Contains(kinds, o.Kind) && o.Opcode == in.Opcode().String() {
			return []int{k}
		}
	}
	if !t.unique[in.Name()] {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.text[in.Name()]), func(k int) bool { return !slices.Contains(kinds, t.p.Ops[k].Kind) })
}

// Of is what was measured of an instruction that computes, or of a loop that is compiled to one program. What others call is measured by its parts, and
// waiting at a done is of a chain: see [Measurements.Chain].
func (t *Measurements) Of(in hlo.Instruction) (m Measured, ok bool) {
	if k, ok := t.loop[in.Computation().ID()]; ok {
		return t.measured([]int{k}, true), true
	}
	if list := t.find(in, Loop_); len(list) == 1 && t.p.Ops[list[0]].Compiled {
		return t.measured(list, false), true
	}
	traits := hlo.Info(in.Opcode()).Traits
	if traits.Has(hlo.TraitControl) && in.Opcode() != hlo.OpFusion || traits.Has(hlo.TraitAsyncDone) {
		return m, false
	}
	list := t.find(in, Kernel, Wait)
	if len(list) == 0 {
		return m, false
	}
	return t.measured(list, slices.ContainsFunc(list, func(k int) bool { return len(t.p.Ops[k].Of) > 1 && t.p.Ops[k].ran() != in.Name() })), true
}

func (t *Measurements) measured(list []int, within bool) (m Measured) {
	for _, k := range list {
		o := &t.p.Ops[k]
		m.Calls = max(m.Calls, o.Calls)
		m.Seconds += o.Seconds
		if within {
			m.Within = append(m.Within, o.ran())
		}
	}
	return m
}

// ran is the name under which an op ran.
func (o *Op) ran() string { return cmp.Or(o.As, o.Name) }

// Chain is what was measured of an asynchronous chain, in seconds of one execution; nil is not measured.
type Chain struct {
	Latency *float64 // of what its start runs
	Wait    *float64 // at its done
}

// Chain is what was measured of the chain between a start and its done.
func (t *Measurements) Chain(start, done hlo.Instruction) (c Chain) {
	each := func(list []int, seconds func(int) float64) *float64 {
		if len(list) != 1 {
			return nil
		}
		x := seconds(list[0]) / max(t.p.Ops[list[0]].Calls, 1)
		return &x
	}
	total := func(k int) float64 { return t.p.Ops[k].Total }
	c.Latency = each(t.find(start, Start), func(k int) float64 { return t.work[k] })
	if c.Latency == nil {
		c.Latency = each(t.find(start, Wait), total) // an operation that has a start of its own runs as one step
	}
	c.Wait = each(t.find(done, Wait), total)
	return c
}
