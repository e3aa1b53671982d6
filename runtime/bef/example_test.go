package bef_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/gohalo/halo/runtime/bef"
)

// A function that adds 7 to its argument, built, written, read and listed.
func Example() {
	b := bef.NewBuilder()
	i32 := b.Type("i32")
	fn := b.Function("add7", bef.Async, []bef.TypeID{i32}, []bef.TypeID{i32})
	c := fn.Kernel(bef.KernelSpec{Name: "tfrt.constant.i32", Results: []bef.TypeID{i32},
		Attrs: []bef.NamedValue{{Name: "value", Value: bef.Int32(7)}}})
	y := fn.Kernel(bef.KernelSpec{Name: "tfrt.add.i32", Args: []bef.RegID{fn.Arg(0), c[0]}, Results: []bef.TypeID{i32},
		Loc: bef.At("a.hlo", 3, 3)})
	fn.Return(y...)
	f, err := b.File()
	if err != nil {
		log.Fatal(err)
	}

	var buf bytes.Buffer
	if err := bef.Encode(&buf, f, bef.EncodeOptions{}); err != nil {
		log.Fatal(err)
	}
	g, err := bef.Decode(buf.Bytes(), bef.DecodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	v, err := g.Attrs.Int32(g.Func("add7").Kernels[0].Attrs[0].Offset)
	fmt.Println(v, err)
	bef.Disassemble(os.Stdout, g)
	// Output:
	// 7 <nil>
	// bef G2 kernels=2 types=1 functions=1 attributes=4B locations=4B typed=true
	//
	// function 0 "add7" async (i32) -> (i32) loc=unknown
	//   %0 : i32 uses=1
	//   %1 : i32 uses=1
	//   %2 : i32 uses=1
	//   entry -> [0] args [[1]]
	//   [0] %1 = "tfrt.constant.i32"() stream=0 value@0=i32:07000000 users=[[1]] loc=unknown
	//   [1] %2 = "tfrt.add.i32"(%0, %1) stream=0 users=[[]] loc=a.hlo:3:3
	//   return %2
}
