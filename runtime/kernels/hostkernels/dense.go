package hostkernels

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

const maxRank = 5

// caller is what frames of both worlds tell: enough for kernels that make tensors from attributes.
type caller interface {
	Ctx() runtime.ExecContext
	Attr(i int) bef.Attr
	Pool() *bef.Pool
}

func registerDense(reg *runtime.Registry) {
	for _, e := range elems {
		for rank := range maxRank + 1 {
			k := maker(1, func(c caller) (*Dense, error) { return createUninitialized(c, e, rank) })
			suffix := e.suffix + "." + strconv.Itoa(rank)
			reg.Kernel("tfrt_dht.create_uninitialized_tensor."+suffix, k)
			reg.Sync("tfrt_dht_sync.create_uninitialized_tensor."+suffix, k)
		}
		reg.Kernel("tfrt_dht.fill_tensor_with_constant."+e.suffix, changing(e, (*Dense).fill))
		set := changing(e, (*Dense).set)
		reg.Kernel("tfrt_dht.set_tensor_with_constant_values."+e.suffix, set)
		reg.Sync("tfrt_dht_sync.set_tensor_with_constant_values."+e.suffix, set)
		reg.Kernel("tfrt_dht.set_tensor_with_values."+e.suffix, settingValues(e))
		reg.Kernel("tfrt_dht.tensor_equal."+e.suffix, comparing(e, func(a, b []byte) bool { return e.equal(a, b) }))
		for suffix, ulps := range map[string]float64{"": 2, "3ulp.": 3, "1000ulp.": 1000, "2000ulp.": 2000, "100000ulp.": 100000} {
			reg.Kernel("tfrt_dht.tensor_allclose."+suffix+e.suffix, comparing(e, func(a, b []byte) bool { return e.close(a, b, ulps) }))
		}
	}
	reg.Kernel("tfrt_dht.print_tensor", printing(Tensor.String))
	reg.Sync("tfrt_dht_sync.print_tensor", runtime.Kernel{
		Signature: &runtime.Signature{Args: 1},
		Sync: func(f *runtime.SyncFrame) error {
			console(f.Ctx()).Printf("%v\n", runtime.SyncArg[Tensor](f, 0))
			return nil
		},
	})
	reg.Kernel("tfrt_dht.print_tensor_shape", printing(func(t Tensor) string { return formatDims(t.Dims()) }))
	shape := runtime.Pure1(func(t Tensor) Shape { return t.Dims() })
	reg.Kernel("tfrt_dht.get_tensor_shape", shape)
	reg.Sync("tfrt_dht_sync.get_tensor_shape", shape)
	reg.Kernel("tfrt_dht.no_op_ht", runtime.Pure1(func(Tensor) async.Chain { return async.Chain{} }))
	dense := maker(1, constantTensor)
	reg.Kernel("tfrt_test.const_dense_attr", dense)
	reg.Sync("tfrt_test.sync.const_dense_attr", dense)
	reg.Kernel("tfrt_sht.create_tensor", maker(2, createStrings))
}

// maker makes a kernel that makes a tensor from attributes alone.
func maker[T Tensor](attrs runtime.Count, create func(caller) (T, error)) runtime.Kernel {
	return runtime.Kernel{
		Signature: &runtime.Signature{Results: 1, Attrs: attrs},
		Run: func(f *runtime.Frame) {
			t, err := create(f)
			if err != nil {
				f.ReportError(err)
				return
			}
			runtime.Return(f, 0, t)
		},
		Sync: func(f *runtime.SyncFrame) error {
			t, err := create(f)
			if err == nil {
				runtime.SyncReturn(f, 0, t)
			}
			return err
		},
	}
}

func createUninitialized(c caller, e *elem, rank int) (*Dense, error) {
	dims, err := runtime.AttrValue[[]int64](c.Pool(), c.Attr(0))
	if err != nil {
		return nil, err
	}
	if len(dims) != rank {
		return nil, fmt.Errorf("shape %s is not of rank %d", formatDims(dims), rank)
	}
	return newDense(c.Ctx(), e, dims)
}

func constantTensor(c caller) (*Dense, error) {
	value, err := runtime.AttrValue[bef.Tensor](c.Pool(), c.Attr(0))
	if err != nil {
		return nil, err
	}
	e := elemOf(value.Elem)
	if e == nil {
		return nil, fmt.Errorf("there are no tensors of type %v", value.Elem)
	}
	t, err := newDense(c.Ctx(), e, value.Dims)
	if err == nil {
		copy(t.Data(), value.Data)
	}
	return t, err
}

func createStrings(c caller) (*Strings, error) {
	dims, err := runtime.AttrValue[[]int64](c.Pool(), c.Attr(0))
	if err != nil {
		return nil, err
	}
	var list []bef.Attr
	if values := c.Attr(1); values.Type != bef.EmptyArray {
		if list, err = c.Pool().Aggregate(values.Offset); err != nil {
			return nil, err
		}
	}
	t := &Strings{dims: dims, values: make([]string, len(list))}
	for i, a := range list {
		if t.values[i], err = runtime.AttrValue[string](c.Pool(), a); err != nil {
			return nil, err
		}
	}
	if n, ok := countElements(dims); !ok || n != uint64(len(list)) {
		return nil, errors.New("Shape mismatch")
	}
	return t, nil
}

// check holds a tensor to the type that a kernel's name says.
func (t *Dense) check(e *elem) error {
	if t.elem != e {
		return fmt.Errorf("tensor is of type %s, want %s", t.elem.name, e.name)
	}
	return nil
}

// changing makes a kernel that writes a tensor by a constant. With a chain it gives one; a synchronous function needs none.
func changing(e *elem, change func(*Dense, caller) error) runtime.Kernel {
	apply := func(t *Dense, c caller) error {
		if err := t.check(e); err != nil {
			return err
		}
		return change(t, c)
	}
	return runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(1), Results: runtime.AtLeast(0), Attrs: 1, Payloads: true},
		Check: func(u *runtime.KernelUse) error {
			if u.NumArgs > 3 || u.NumResults > 1 {
				return fmt.Errorf("takes a tensor and a chain and gives a chain, got %d arguments and %d results", u.NumArgs, u.NumResults)
			}
			return nil
		},
		Run: func(f *runtime.Frame) {
			if err := apply(runtime.Arg[*Dense](f, 0), f); err != nil {
				f.ReportError(err)
				return
			}
			setAll(f.Results(), async.ReadyChain().Value())
		},
		Sync: func(f *runtime.SyncFrame) error { return apply(runtime.SyncArg[*Dense](f, 0), f) },
	}
}

func (t *Dense) fill(c caller) error {
	x, err := t.elem.constantElement(c.Pool(), c.Attr(0))
	if err != nil {
		return err
	}
	data := t.Data()
	for done := copy(data, x); done < len(data); done *= 2 {
		copy(data[done:], data[:done])
	}
	return nil
}

func (t *Dense) set(c caller) error {
	values, err := t.elem.constantElements(c.Pool(), c.Attr(0))
	if err != nil {
		return err
	}
	return t.assign(values)
}

func (t *Dense) assign(values []byte) error {
	if len(values) != len(t.Data()) {
		part := t.elem.part().size
		return fmt.Errorf("Incorrect number of values for the tensor: %d, but expected %d", len(values)/part, len(t.Data())/part)
	}
	copy(t.Data(), values)
	return nil
}

func settingValues(e *elem) runtime.Kernel {
	return runtime.Params4(func(in runtime.Argument[*Dense], _ runtime.Argument[async.Chain], values runtime.RemainingArguments, out runtime.Result[async.Chain]) error {
		t := in.Get()
		if err := t.check(e); err != nil {
			return err
		}
		var data []byte
		for _, v := range values.Values {
			b, err := e.scalarValue(v)
			if err != nil {
				return err
			}
			data = append(data, b...)
		}
		if len(data) != len(t.Data()) {
			return fmt.Errorf("Incorrect number of values for the tensor: %d, but expected %d", len(values.Values), t.numElements())
		}
		copy(t.Data(), data)
		out.Emplace(async.Chain{})
		return nil
	})
}

// comparing makes a kernel that tells whether two tensors have the same shape and all pairs of elements satisfy same.
func comparing(e *elem, same func(a, b []byte) bool) runtime.Kernel {
	return runtime.Params5(func(x, y runtime.Argument[*Dense], _ runtime.Argument[async.Chain], eq runtime.Result[bool], out runtime.Result[async.Chain]) error {
		a, b := x.Get(), y.Get()
		if err := errors.Join(a.check(e), b.check(e)); err != nil {
			return err
		}
		eq.Emplace(slices.Equal(a.dims, b.dims) && allPairs(a, b, same))
		out.Emplace(async.Chain{})
		return nil
	})
}

func allPairs(a, b *Dense, same func(a, b []byte) bool) bool {
	if a.elem.class <= truth {
		return bytes.Equal(a.Data(), b.Data())
	}
	for i := range a.numElements() {
		if !same(a.at(i), b.at(i)) {
			return false
		}
	}
	return true
}
