package hlo

import "fmt"

// A pass that copies what it calls may make a program of kilobytes grow without end: sixty computations that each call the one before
// twice are 2^60 instructions when they are inlined. So sessions on a module bound how many instructions it may come to have.

const (
	// growthStep is how many nodes a session makes at least between two looks at what they are for, which go over all computations; most take the place of others. Half
	// as many as there are instructions is as good: a look costs no more than the nodes then.
	growthStep = 1 << 16
	// growthRoom and growthFactor bound the instructions of a module: so many, and so many for each that it has had before.
	growthRoom   = 1 << 18
	growthFactor = 4
)

// growth is how far a session is from its bound.
type growth struct {
	made, next int // nodes; the session of a new module has no next
	limit      int // instructions, once it is known
}

// GrowthError is the value of the panic with which a session ends whose module has grown beyond reason. Whoever runs passes makes an error
// of it.
type GrowthError struct{ Instructions, Limit int }

func (e *GrowthError) Error() string {
	return fmt.Sprintf("the module grows to more than %d instructions", e.Limit)
}

// checkGrowth counts the module's instructions.
func (e *Editor) checkGrowth() {
	g := &e.grown
	g.next = g.made + growthStep
	if e.root == nil {
		return
	}
	n := 0
	e.root.comps.each(func(c *compNode) bool {
		if e.first.node != nil && e.first.node.id == c.id {
			c = e.first.node
		} else if e.side != nil {
			if st := e.side.states.get(uint32(c.id)); st != nil && st.node != nil {
				c = st.node
			}
		}
		n += int(c.count)
		return true
	})
	g.next = g.made + max(growthStep, n/2)
	if g.limit == 0 {
		g.limit = growthRoom + growthFactor*n
	}
	if n > g.limit {
		panic(&GrowthError{n, g.limit})
	}
}
