package arrays_test

import (
	"bytes"
	"fmt"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// Arrays go to a file of NumPy and come back with the type that a program declares: the file itself has none for bf16.
func Example() {
	shape := hlo.MakeShape(hlo.BF16, 2, 3)
	x, err := arrays.Fill(arrays.Ones, 0, 0, shape)
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := arrays.WriteNPZ(&file, []arrays.Named{{Key: "x", Literal: x}}); err != nil {
		fmt.Println(err)
		return
	}
	all, err := npz.ReadNPZ(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := arrays.Literal(&all[0].Array, shape)
	if err != nil {
		fmt.Println(err)
		return
	}
	difference := arrays.Compare(back, x, 0, 0)
	fmt.Println(all[0].Name, all[0].Shape, back.Shape(), difference.Bad)
	// Output: x [2 3] bf16[2,3] 0
}
