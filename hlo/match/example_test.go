package match_test

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/parser"
)

// A pattern finds products of two negations, and what is negated.
func Example() {
	m, err := parser.Parse("m.hlo", `
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  na = f32[4] negate(a)
  nb = f32[4] negate(b)
  ROOT p = f32[4] multiply(na, nb)
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	var x, y hlo.Instruction
	negations := match.Op(hlo.OpMultiply, match.Op(hlo.OpNegate, match.Any(&x)), match.Op(hlo.OpNegate, match.Any(&y)))
	for in := range m.Entry().Instructions() {
		if negations(in) {
			fmt.Printf("%s is %s times %s\n", in.Name(), x.Name(), y.Name())
		}
	}
	// Output: p is a times b
}
