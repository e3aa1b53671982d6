package hostprog_test

import (
	"fmt"
	"log"

	"github.com/gohalo/halo/runtime/hostprog"
)

// A text becomes a file, and the file a text.
func Example() {
	p, err := hostprog.Read("add7.mlir", `
func.func @add7(%x: i32) -> i32 {
  %seven = "tfrt.constant.i32"() {value = 7 : i32} : () -> i32
  %y = tfrt.add.i32 %x, %seven
  tfrt.return %y
}`, hostprog.Config{})
	if err != nil {
		log.Fatal(err)
	}
	f, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Kernels, f.Func("add7").Kernels[1].Args)
	q, err := hostprog.Disassemble(f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(hostprog.Sprint(q, hostprog.CustomForm))
	// Output:
	// [tfrt.constant.i32 tfrt.add.i32] [0 1]
	// func.func @add7(%arg0: i32) -> i32 {
	//   %0 = tfrt.constant.i32 7
	//   %1 = tfrt.add.i32 %arg0, %0
	//   tfrt.return %1 : i32
	// }
}
