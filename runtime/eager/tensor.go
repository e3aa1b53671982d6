package eager

import (
	"context"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// Tensor is an array in memory: the payload of a handle's value. Copies share the memory, which is counted as its buffer is. Elements are row-major, of a byte at least.
type Tensor struct {
	shape hlo.Shape
	buf   *runtime.HostBuffer
}

// NewTensor makes a tensor over a buffer whose size is that of the shape, and takes over the reference to it, also if it fails. Layouts do not matter.
func NewTensor(shape hlo.Shape, buf *runtime.HostBuffer) (Tensor, error) {
	if n := int64(len(buf.Data())); n != shape.ByteSize() || !shape.IsStatic() {
		buf.DropRef()
		return Tensor{}, async.Errorf(async.InvalidArgument, "a tensor %v of %d bytes", shape, n)
	}
	return Tensor{rowMajor(shape), buf}, nil
}

// Shape is the tensor's shape, with the row-major layout.
func (t Tensor) Shape() hlo.Shape { return t.shape }

// Data is the tensor's elements. They are not to be written.
func (t Tensor) Data() []byte { return t.buf.Data() }

// Buffer is the tensor's memory, borrowed.
func (t Tensor) Buffer() *runtime.HostBuffer { return t.buf }

// AddRef and DropRef implement async.Counted.
func (t Tensor) AddRef()  { t.buf.AddRef() }
func (t Tensor) DropRef() { t.buf.DropRef() }

// TensorHandle is a tensor that may not exist yet. It holds one reference to its value. The zero handle is none. Copies of a handle share the
// reference; CopyRef makes another.
type TensorHandle struct {
	shape hlo.Shape // the zero Shape: not known before the tensor is there
	value *async.Value
	call  *asyncCall // of the leaves of an asynchronous value
}

// NewHandle makes a handle of a value that will be a tensor, and takes over the reference. The shape may be the zero Shape: then it is known
// when the tensor is.
func NewHandle(shape hlo.Shape, tensor async.Ref[Tensor]) TensorHandle {
	if shape.IsValid() {
		shape = rowMajor(shape)
	}
	return TensorHandle{shape: shape, value: tensor.Value()}
}

// Of makes a handle of an array literal. The literal's memory is used as it is.
func Of(l *hlo.Literal) TensorHandle {
	t := Tensor{rowMajor(l.Shape()), runtime.NewExternalBuffer(l.Bytes(), nil)}
	return TensorHandle{shape: t.shape, value: async.MakeAvailable(t).Value()}
}

// Failed makes a handle of a tensor that could not be made.
func Failed(shape hlo.Shape, err error) TensorHandle {
	return TensorHandle{shape: shape, value: async.MakeError(err)}
}

// IsZero reports whether h is no handle.
func (h TensorHandle) IsZero() bool { return h.value == nil }

// Metadata is the tensor's shape and whether it is known already. It is known from the beginning, if the op's shape rule could tell it.
func (h TensorHandle) Metadata() (hlo.Shape, bool) {
	if !h.shape.IsValid() {
		if t, ok := async.GetIfPresent[Tensor](h.value); ok {
			return t.shape, true
		}
	}
	return h.shape, h.shape.IsValid()
}

// AsyncMetadata is the tensor's shape as a value: available if it is known, else when the tensor is.
func (h TensorHandle) AsyncMetadata() async.Ref[hlo.Shape] {
	if s, ok := h.Metadata(); ok {
		return async.MakeAvailable(s)
	}
	h.value.AddRef()
	return async.Map(async.Cast[Tensor](h.value), Tensor.Shape)
}

// AsyncTensor is the tensor as a value, borrowed.
func (h TensorHandle) AsyncTensor() async.Ptr[Tensor] { return async.Cast[Tensor](h.value).Ptr() }

// Value is the tensor's value without its type, borrowed.
func (h TensorHandle) Value() *async.Value { return h.value }

// Tensor is the tensor, borrowed, and whether it is there.
func (h TensorHandle) Tensor() (Tensor, bool) { return async.GetIfPresent[Tensor](h.value) }

// Err is the error of a tensor that could not be made, nil as long as there is none.
func (h TensorHandle) Err() error { return h.value.Err() }

// CopyRef returns the handle with another reference.
func (h TensorHandle) CopyRef() TensorHandle {
	h.value.AddRef()
	return h
}

// Drop gives the handle's reference back.
func (h TensorHandle) Drop() { h.value.DropRef() }

func (h TensorHandle) String() string {
	if h.IsZero() {
		return "no tensor"
	}
	s, _ := h.Metadata()
	return s.String() + ": " + h.value.String()
}

// Await waits for tensors and returns the first error among them. It must not be called on a worker of the host's queue.
func (rt *Runtime) Await(ctx context.Context, handles ...TensorHandle) error {
	values := make([]*async.Value, len(handles))
	for i, h := range handles {
		values[i] = h.value
	}
	if err := rt.host.Queue().Await(ctx, values...); err != nil {
		return err
	}
	for _, v := range values {
		if err := v.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Literal waits for a tensor and copies it.
func (rt *Runtime) Literal(ctx context.Context, h TensorHandle) (*hlo.Literal, error) {
	if err := rt.Await(ctx, h); err != nil {
		return nil, err
	}
	t := async.Get[Tensor](h.value)
	return hlo.NewLiteral(t.shape, slices.Clone(t.Data()))
}

// rowMajor is the shape of what is in memory.
func rowMajor(s hlo.Shape) hlo.Shape { return s.WithoutLayout().WithDefaultLayout() }

// leavesOf is the arrays and tokens of shapes, as they are in memory.
func leavesOf(shapes ...hlo.Shape) (all []hlo.Shape) {
	for _, s := range shapes {
		for _, leaf := range s.Leaves {
			all = append(all, rowMajor(leaf))
		}
	}
	return all
}

func tensorTypes(leaves []hlo.Shape) []runtime.TensorType {
	types := make([]runtime.TensorType, len(leaves))
	for i, s := range leaves {
		types[i] = runtime.TensorType{Type: uint8(s.Type()), Dims: s.Dimensions(), Bytes: s.ByteSize()}
	}
	return types
}
