package copies

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Check says which value of a module is written over while it is still to be read.
func Check(m hlo.Module) error {
	v := findValues(m)
	b := findBuffers(v, newOrdering(v))
	for _, x := range v.all {
		n := b.nodes[x.number]
		if n.next == nil {
			continue
		}
		what := func(n *node) string { return fmt.Sprintf("leaf %d of %s", n.def.leaf, v.instr(n.def.site).Name()) }
		if !b.before(n, n.next, nil) {
			return fmt.Errorf("%s has the memory of %s, which is still to be read", what(n.next), what(n))
		}
		if b.readOnly(x) {
			return fmt.Errorf("%s is written over by %s", what(n), what(n.next))
		}
	}
	root := m.Entry().Root()
	seen := map[int]bool{}
	for leaf, x := range v.at[site{m.Entry().ID(), root.ID()}] {
		class := b.find(x.number)
		if b.readOnly(x) || seen[class] {
			return fmt.Errorf("result %d is a constant, a parameter, or another result", leaf)
		}
		seen[class] = true
	}
	return nil
}
