package memplan_test

import (
	"context"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/memplan"
	"github.com/gohalo/halo/runtime/kernels"
)

// A report says what the memory of an execution is for, without executing anything.
func Example() {
	m, err := halo.LoadBytes("m.hlo", []byte(`HloModule m

ENTRY main {
  x = f32[64,64] parameter(0)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT e = f32[64,64] dot(d, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := halo.Compile(context.Background(), m, halo.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	lowered, _ := kernels.Module(p.Runtime())
	r, err := memplan.New(p.Runtime(), lowered, m.HLO())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("arguments:", r.Arguments, "results:", r.Results)
	fmt.Println("most at one time:", r.Peak, "at", r.PeakAt.Name) // r.WriteText shows all of it
	// Output:
	// arguments: 16384 results: 16384
	// most at one time: 16384 at d
}
