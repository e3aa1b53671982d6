package lower

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// aliases are the pairs of a result and a parameter, by leaf, that the header lets a caller keep in the same memory. A parameter is given once,
// to a result of its own shape; what else a header says does not hold, and is left out.
func aliases(m hlo.Module) (list []runtime.Alias) {
	if len(m.Config().InputOutputAlias) == 0 {
		return nil
	}
	c := m.Entry()
	var first []int // of the leaves of each parameter
	leaves := 0
	for i := range c.NumParameters() {
		first = append(first, leaves)
		leaves += c.Parameter(i).Shape().NumLeaves()
	}
	root := c.Root().Shape()
	results, params := map[int]bool{}, map[int]bool{}
	for _, a := range m.Config().InputOutputAlias {
		if a.Parameter < 0 || int(a.Parameter) >= len(first) {
			continue
		}
		p := c.Parameter(int(a.Parameter)).Shape()
		param, from, ok1 := p.Leaf(a.ParameterIndex)
		result, to, ok2 := root.Leaf(a.Output)
		param += first[a.Parameter]
		if !ok1 || !ok2 || results[result] || params[param] || from.IsToken() || !from.Compatible(to) {
			continue
		}
		results[result], params[param] = true, true
		list = append(list, runtime.Alias{Result: result, Param: param, Must: a.Must})
	}
	return list
}

// donations is, by leaf of the result, the leaf of the parameters over which it may have to be written, or -1; nil if there is none.
func (l *lowering) donations() []int {
	if len(l.aliases) == 0 {
		return nil
	}
	over := make([]int, l.m.Entry().Root().Shape().NumLeaves())
	for i := range over {
		over[i] = -1
	}
	for _, a := range l.aliases {
		over[a.Result] = a.Param
	}
	return over
}
