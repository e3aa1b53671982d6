package scalar

import (
	"fmt"
	"strings"
)

// String lists the instructions, for people.
func (p *Program) String() string {
	var s strings.Builder
	for i, c := range p.constants {
		fmt.Fprintf(&s, "r%d = %#x\n", i, c)
	}
	for i := range p.code {
		in := &p.code[i]
		fmt.Fprintf(&s, "%3d %-12s d r%d, a %d, b %d, c %d, e %d", i, opNames[in.op], in.d/8, in.a/8, in.b/8, in.c/8, in.e/8)
		switch {
		case in.op.branches():
			fmt.Fprintf(&s, ", to %d", int(in.m)/instrSize)
		case in.m != 0:
			fmt.Fprintf(&s, ", %d", in.m)
		}
		s.WriteByte('\n')
	}
	return s.String()
}
