package halocmd

import (
	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
)

// donated is memory for the results of the only run on args: that of the arguments which the program lets them be written over, as XLA does with what its caller
// donates. A training step then holds its weights once, and copies none that it passes on. It is nil where there is nothing to give, and with several
// devices, which may share an argument.
func donated(p *halo.Program, args [][]*hlo.Literal) [][]*hlo.Literal {
	s := p.Signature()
	if len(s.Aliases) == 0 || len(args) != 1 {
		return nil
	}
	users := make(map[*hlo.Literal]int, len(args[0]))
	for _, a := range args[0] {
		users[a]++
	}
	results := make([]*hlo.Literal, len(s.Results))
	for _, alias := range s.Aliases {
		a := args[0][alias.Parameter]
		if a != nil && users[a] == 1 && a.Shape().Equal(s.Results[alias.Result].Shape) {
			results[alias.Result] = a
		}
	}
	return [][]*hlo.Literal{results}
}
