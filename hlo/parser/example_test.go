package parser_test

import (
	"fmt"

	"github.com/gohalo/halo/hlo/parser"
)

func ExampleParse() {
	m, err := parser.Parse("double.hlo", `
HloModule double

ENTRY main {
  x = f32[4] parameter(0)
  ROOT twice = f32[4] add(x, x)
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for in := range m.Entry().Instructions() {
		fmt.Println(in.Name(), in.Opcode(), in.Shape())
	}
	// Output:
	// x parameter f32[4]{0}
	// twice add f32[4]{0}
}

func ExampleParse_errors() {
	_, err := parser.Parse("typo.hlo", `ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] negtae(x)
  ROOT z = f32[4] add(x, xx)
}`)
	fmt.Println(err)
	// Output:
	// typo.hlo:3:14: error: expects opcode but sees: negtae, error: Unknown opcode: negtae
	//   y = f32[4] negtae(x)
	//              ^
	//   did you mean "negate"?
	// typo.hlo:4:26: error: instruction does not exist: xx
	//   ROOT z = f32[4] add(x, xx)
	//                          ^
	//   did you mean "x"?
}

func ExampleParseSharding() {
	s, err := parser.ParseSharding("{devices=[2,4]<=[2,2,2]T(0,1,2)}")
	fmt.Println(s.TileDims, s.Iota.Reshape, err)
	// Output: [2 4] [8] <nil>
}
