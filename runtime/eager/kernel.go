package eager

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
)

// KernelSpec says which kernel of the registry, and how it is used.
type KernelSpec struct {
	Name          string
	Attrs         map[string]bef.Value
	Args, Results int
}

// Kernel is a kernel of host programs, to be executed by itself: a program of one kernel, which is kept like other prepared ops. Arguments and results are
// values of any type; what the types are is between the kernel and the caller. Tensors of host kernels are made from handles, and handles
// from them, by HostTensor and FromHostTensor.
type Kernel struct {
	rt *Runtime
	fn *runtime.Function
}

// MakeKernel prepares a kernel. Options.Register must have registered it.
func (rt *Runtime) MakeKernel(spec KernelSpec) (*Kernel, error) {
	names := slices.Sorted(maps.Keys(spec.Attrs))
	key := fmt.Appendf(nil, "%q(%d) -> %d", spec.Name, spec.Args, spec.Results)
	for _, name := range names {
		key = fmt.Appendf(key, ", %q = %#v", name, spec.Attrs[name])
	}
	if fn, ok := rt.kernels.get(key); ok {
		return &Kernel{rt, fn}, nil
	}
	b := bef.NewBuilder()
	some := b.Type("any")
	args, results := make([]bef.TypeID, spec.Args), make([]bef.TypeID, spec.Results)
	regs := make([]bef.RegID, spec.Args)
	for i := range args {
		args[i] = some
	}
	for i := range results {
		results[i] = some
	}
	f := b.Function("op", bef.Async, args, results)
	for i := range regs {
		regs[i] = f.Arg(i)
	}
	use := bef.KernelSpec{Name: spec.Name, Args: regs, Results: results}
	for _, name := range names {
		use.Attrs = append(use.Attrs, bef.NamedValue{Name: name, Value: spec.Attrs[name]})
	}
	f.Return(f.Kernel(use)...)
	file, err := b.File()
	if err != nil {
		return nil, err
	}
	program, err := runtime.Load(file, rt.registry, runtime.LoadOptions{Host: rt.host})
	if err != nil {
		return nil, err
	}
	return &Kernel{rt, rt.kernels.put(key, program.Function("op"))}, nil
}

// Execute executes the kernel with borrowed arguments and fills results, each with a reference for the caller. It returns without waiting
// for what is not there. Errors are those of the results; only wrong numbers are returned.
func (k *Kernel) Execute(req *runtime.Request, args, results []*async.Value) error {
	if req == nil {
		req = k.rt.request
	}
	return k.fn.Execute(req.NewExecContext(), args, results)
}

// elementTypes pairs the element types of HLO with those of host tensors.
var elementTypes = map[hlo.PrimitiveType]bef.AttrType{
	hlo.PRED: bef.I1, hlo.S8: bef.I8, hlo.S16: bef.I16, hlo.S32: bef.I32, hlo.S64: bef.I64,
	hlo.U8: bef.UI8, hlo.U16: bef.UI16, hlo.U32: bef.UI32, hlo.U64: bef.UI64,
	hlo.F16: bef.F16, hlo.BF16: bef.BF16, hlo.F32: bef.F32, hlo.F64: bef.F64, hlo.C64: bef.C64, hlo.C128: bef.C128,
}

// HostTensor is the tensor of a handle as the kernels of host programs know it, sharing its memory. The caller gets a reference.
func HostTensor(h TensorHandle) async.Ref[*hostkernels.Dense] {
	h.value.AddRef()
	return async.TryMap(async.Cast[Tensor](h.value), func(t Tensor) (*hostkernels.Dense, error) {
		code, ok := elementTypes[t.shape.Type()]
		if !ok {
			return nil, async.Errorf(async.Unimplemented, "host tensors have no elements of type %v", t.shape.Type())
		}
		t.buf.AddRef()
		return hostkernels.NewDense(code, t.shape.Dimensions(), t.buf)
	})
}

// FromHostTensor is a handle of a dense tensor of host kernels, sharing its memory. It takes over the reference to v.
func FromHostTensor(v *async.Value) TensorHandle {
	ref := async.TryMap(async.Cast[*hostkernels.Dense](v), func(d *hostkernels.Dense) (Tensor, error) {
		for t, code := range elementTypes {
			if code == d.ElementType() {
				d.Buffer().AddRef()
				return NewTensor(hlo.MakeShape(t, d.Dims()...), d.Buffer())
			}
		}
		return Tensor{}, async.Errorf(async.Unimplemented, "HLO has no elements of type %v", d.ElementType())
	})
	h := TensorHandle{value: ref.Value()}
	h.shape, _ = h.Metadata()
	return h
}
