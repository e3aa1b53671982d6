package verifier_test

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// All findings come at once, each with the rule it breaks.
func ExampleVerify() {
	m, err := parser.Parse("overlap.hlo", `HloModule overlap

work {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  y = s32[4] parameter(1)
  z = f32[4] add(x, y)
  s = ((f32[4]), f32[4], u32[]) async-start(x), calls=work
  d = f32[4] async-done(s)
  e = f32[4] async-done(s)
  ROOT r = f32[4] add(d, e)
}
`)
	if err != nil {
		panic(err)
	}
	for _, f := range verifier.Verify(m, verifier.Config{}) {
		fmt.Printf("%d:%d %s %s\n", f.Pos.Line, f.Pos.Col, f.Rule, f.Instruction)
	}
	// Output:
	// 11:3 ELT-07 z
	// 12:3 ASYNC-25 s
}

// Options are fields; predicates see the instruction.
func ExampleConfig() {
	m, err := parser.Parse("", "HloModule m\n\nENTRY main {\n  ROOT x = f32[?] parameter(0)\n}\n")
	if err != nil {
		panic(err)
	}
	fmt.Println(verifier.Verify(m, verifier.Config{}).Err() != nil)
	any := func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpParameter }
	fmt.Println(verifier.Verify(m, verifier.Config{UnboundedDynamic: any}).Err())
	// Output:
	// true
	// <nil>
}
