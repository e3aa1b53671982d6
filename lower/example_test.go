package lower_test

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime/bef"
)

// From text to the bytes of a program. The pipeline cpu makes what lowering wants; halo.Compile does all of this, and loads the program.
func Example() {
	ctx := context.Background()
	m, err := parser.Parse("m.hlo", `
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT s = f32[4] add(x, y)
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	cpu, err := passes.Parse("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	if m, err = (&pass.Runner{}).Run(ctx, cpu, m); err != nil {
		fmt.Println(err)
		return
	}
	file, err := lower.Module(ctx, m)
	if err != nil {
		fmt.Println(err) // a *lower.Error, with opcode and position
		return
	}
	data, err := bef.Marshal(file, bef.EncodeOptions{Extensions: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Kernels, len(data) > 0)
	// Output: [hlo.add] true
}
