package analysis_test

import (
	"fmt"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

// What a product costs, and how often it runs in a loop that counts.
func Example() {
	m, err := parser.Parse("loop.hlo", `HloModule loop

body {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8,8] get-tuple-element(s), index=1
  square = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[8,8]) tuple(next, square)
}

condition {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  ten = s32[] constant(10)
  ROOT less = pred[] compare(i, ten), direction=LT
}

ENTRY main {
  zero = s32[] constant(0)
  x = f32[8,8] parameter(0)
  t = (s32[], f32[8,8]) tuple(zero, x)
  ROOT w = (s32[], f32[8,8]) while(t), condition=condition, body=body
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	costs := analysis.FindCosts(m)
	w := m.Entry().Root()
	body := m.MustComputation(w.Callee(0))
	for in := range body.Instructions() {
		if in.Name() == "square" {
			fmt.Println("a product:", costs.Of(in).Flops, "flops")
		}
	}
	rounds, known := costs.Trips(w)
	fmt.Println("rounds:", rounds, known)
	fmt.Println("all of the loop:", costs.Of(w).Flops, "flops")
	// Output:
	// a product: 1024 flops
	// rounds: 10 true
	// all of the loop: 10260 flops
}
