package halo_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
)

// bindScale makes a kernel that multiplies an array by a number, which its attribute states. Binding happens once, when a program is
// loaded: what is wrong with a use is found there.
func bindScale(b *runtime.Binding) (runtime.Bound, error) {
	if len(b.In) != 1 || len(b.Out) != 1 || b.In[0].Type != uint8(hlo.F32) || b.In[0].Bytes != b.Out[0].Bytes {
		return runtime.Bound{}, fmt.Errorf("%s takes and gives one array of f32", b.Kernel)
	}
	text, err := b.StringAttr(0)
	if err != nil {
		return runtime.Bound{}, err
	}
	factor, err := strconv.ParseFloat(text, 32)
	if err != nil {
		return runtime.Bound{}, err
	}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		x, y := f.In(0).Data, f.Out(0).Data
		for i := 0; i < len(x); i += 4 {
			v := math.Float32frombits(binary.NativeEndian.Uint32(x[i:]))
			binary.NativeEndian.PutUint32(y[i:], math.Float32bits(v*float32(factor)))
		}
		return nil
	}}, nil
}

// register makes the kernel known under one name to both languages.
func register(reg *runtime.Registry) {
	reg.CustomCall("acme.scale", bindScale)
	reg.Tensor("acme.scale", bindScale)
	reg.Kernel("acme.shout", runtime.Pure1(func(s string) string { return s + "!" }))
}

// A kernel from outside of the module, called by an HLO program.
func ExampleOptions_register() {
	m, err := parser.Parse("scale.hlo", `HloModule m
ENTRY main {
  x = f32[3] parameter(0)
  ROOT y = f32[3] custom-call(x), custom_call_target="acme.scale", backend_config="2.5"
}`)
	if err != nil {
		log.Fatal(err)
	}
	p, err := halo.Compile(context.Background(), m, halo.Options{Register: register})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	x, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 3), float32(1), 2, 3)
	out, err := p.Run(context.Background(), x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hlo.Values[float32](out[0]))
	// Output: [2.5 5 7.5]
}

// The same kernel, and one on other values, called by a host program.
func Example_hostProgram() {
	text, err := hostprog.Read("scale.mlir", `func.func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %y = "acme.scale"(%x) {factor = "2.5"} : (tensor<3xf32>) -> tensor<3xf32>
  %z = "tfrt.alias.value"(%ch, %y) : (!tfrt.chain, tensor<3xf32>) -> !tfrt_tensor.tensor
  %c1 = tfrt_dht.print_tensor %z, %ch
  %s = "tfrt_test.get_string"() {value = "done"} : () -> !tfrt.string
  %t = "acme.shout"(%s) : (!tfrt.string) -> !tfrt.string
  %c2 = "tfrt_test.print_string"(%t, %c1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}`, hostprog.Config{})
	if err != nil {
		log.Fatal(err)
	}
	file, err := hostprog.Assemble(text, hostprog.AssembleOptions{})
	if err != nil {
		log.Fatal(err)
	}
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	register(reg)
	p, err := runtime.Load(file, reg, runtime.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	console := hostkernels.NewConsole(os.Stdout, os.Stderr)
	req := runtime.NewRequest(context.Background(), p.Host(), runtime.RequestOptions{Data: []any{console}})
	defer req.Close()
	results := make([]*async.Value, 1)
	if err := p.Function("main").Execute(req.NewExecContext(), nil, results); err != nil {
		log.Fatal(err)
	}
	// Output:
	// DenseHostTensor dtype = f32, shape = [3], values = [2.500000e+00, 5.000000e+00, 7.500000e+00]
	// string = done!
}
