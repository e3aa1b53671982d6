package hlo

import "fmt"

// CopyStats counts what an [Editor] copied because it belonged to another version. New nodes are not copies. Writing an equal value,
// and writing a node that already belongs to the session, count nothing.
type CopyStats struct {
	Modules      int // module headers, with the path in the table of computations
	Computations int // computation headers
	Inner        int // inner nodes of instruction trees
	Leaves       int // leaves of instruction trees
	Instructions int
	AttrSets     int // attribute sets of instructions, computations and modules
	Bytes        int // of all of these, and of slices copied with them
}

// Copies is the number of nodes copied, of any kind.
func (s CopyStats) Copies() int {
	return s.Modules + s.Computations + s.Inner + s.Leaves + s.Instructions + s.AttrSets
}

// String lists the counts that are not zero.
func (s CopyStats) String() string {
	b := []byte(fmt.Sprintf("%d copies, %d bytes", s.Copies(), s.Bytes))
	sep := ": "
	for _, c := range []struct {
		n    int
		what string
	}{
		{s.Modules, "modules"}, {s.Computations, "computations"}, {s.Inner, "inner"}, {s.Leaves, "leaves"},
		{s.Instructions, "instructions"}, {s.AttrSets, "attribute sets"},
	} {
		if c.n != 0 {
			b = fmt.Appendf(b, "%s%d %s", sep, c.n, c.what)
			sep = ", "
		}
	}
	return string(b)
}

func (s *CopyStats) add(o CopyStats) {
	s.Modules += o.Modules
	s.Computations += o.Computations
	s.Inner += o.Inner
	s.Leaves += o.Leaves
	s.Instructions += o.Instructions
	s.AttrSets += o.AttrSets
	s.Bytes += o.Bytes
}
