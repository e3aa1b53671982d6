package hostkernels

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// Tensor is a tensor of any kind. Values hold *Dense, *Sparse or *Strings.
type Tensor interface {
	// Dims returns the extents, which are not to be changed.
	Dims() []int64
	// String describes the tensor with its first elements.
	String() string
}

// Dense is a tensor with its elements in row-major order in memory, which it may share with others. It is counted as its buffer is.
type Dense struct {
	elem *elem
	dims []int64
	buf  *runtime.HostBuffer
}

// AddRef and DropRef implement async.Counted.
func (t *Dense) AddRef()  { t.buf.AddRef() }
func (t *Dense) DropRef() { t.buf.DropRef() }

// Dims implements Tensor.
func (t *Dense) Dims() []int64 { return t.dims }

// Data returns the elements' bytes.
func (t *Dense) Data() []byte { return t.buf.Data() }

func (t *Dense) numElements() int { return len(t.Data()) / t.elem.size }

// at returns the bytes of element i in memory order.
func (t *Dense) at(i int) []byte { return t.Data()[i*t.elem.size:][:t.elem.size] }

// maxPrinted is how many elements are printed.
const maxPrinted = 16

func (t *Dense) String() string {
	n := t.numElements()
	values := make([]string, min(n, maxPrinted))
	for i := range values {
		values[i] = t.elem.format(t.at(i))
	}
	return fmt.Sprintf("DenseHostTensor dtype = %s, shape = %s, values = %s", t.elem.name, formatDims(t.dims), list(values, n > maxPrinted))
}

// Sparse is a tensor that lists the elements that are not zero: rank coordinates and a value for each.
type Sparse struct {
	elem    *elem
	dims    []int64
	indices []int64
	values  []byte
}

// Dims implements Tensor.
func (t *Sparse) Dims() []int64 { return t.dims }

func (t *Sparse) numValues() int { return len(t.values) / t.elem.size }

func (t *Sparse) at(i int) []byte { return t.values[i*t.elem.size:][:t.elem.size] }

// String ends with a line break: TFRT prints one more after sparse tensors.
func (t *Sparse) String() string {
	values := make([]string, t.numValues())
	for i := range values {
		values[i] = t.elem.format(t.at(i))
	}
	return fmt.Sprintf("CooHostTensor dtype = %s, shape = %s, indices = %s, values = %s\n", t.elem.name, formatDims(t.dims), formatDims(t.indices), list(values, false))
}

// Strings is a tensor of texts.
type Strings struct {
	dims   []int64
	values []string
}

// Dims implements Tensor.
func (t *Strings) Dims() []int64 { return t.dims }

func (t *Strings) String() string {
	const withoutDots = 32 // more are cut silently up to here
	values := make([]string, min(len(t.values), maxPrinted))
	for i := range values {
		values[i] = `"` + t.values[i] + `"`
	}
	return fmt.Sprintf("StringHostTensor shape = %s, values = %s", formatDims(t.dims), list(values, len(t.values) > withoutDots))
}

func list(values []string, more bool) string {
	s := strings.Join(values, ", ")
	if more {
		s += ", ... "
	}
	return "[" + s + "]"
}

func formatDims(dims []int64) string {
	texts := make([]string, len(dims))
	for i, d := range dims {
		texts[i] = strconv.FormatInt(d, 10)
	}
	return list(texts, false)
}

var errCannotAllocate = errors.New("Cannot allocate tensor")

// newDense returns a tensor of zeros, with one reference.
func newDense(ctx runtime.ExecContext, e *elem, dims []int64) (*Dense, error) {
	size, ok := byteSize(e, dims)
	if !ok {
		return nil, errCannotAllocate
	}
	buf, err := runtime.NewHostBuffer(ctx.Host().Allocator(), size, runtime.BufferAlign)
	if err != nil {
		return nil, errCannotAllocate
	}
	clear(buf.Data())
	return &Dense{elem: e, dims: slices.Clone(dims), buf: buf}, nil
}

// byteSize returns the size of a tensor, if it can have one.
func byteSize(e *elem, dims []int64) (int64, bool) {
	n, ok := countElements(dims)
	hi, size := bits.Mul64(n, uint64(e.size))
	return int64(size), ok && hi == 0 && size < 1<<62
}

// countElements returns the product of the extents, if they are extents and it fits.
func countElements(dims []int64) (n uint64, ok bool) {
	n = 1
	for _, d := range dims {
		hi, lo := bits.Mul64(n, uint64(d))
		if d < 0 || hi != 0 {
			return 0, false
		}
		n = lo
	}
	return n, true
}

// NewDense makes a tensor over a buffer of the right size, and takes over the reference to it, also if it fails.
func NewDense(t bef.AttrType, dims []int64, buf *runtime.HostBuffer) (*Dense, error) {
	e := elemOf(t)
	if e == nil {
		buf.DropRef()
		return nil, fmt.Errorf("tensors have no elements of type %v", t)
	}
	if size, ok := byteSize(e, dims); !ok || size != int64(len(buf.Data())) {
		buf.DropRef()
		return nil, fmt.Errorf("a tensor of %s%s in %d bytes", e.name, formatDims(dims), len(buf.Data()))
	}
	return &Dense{elem: e, dims: slices.Clone(dims), buf: buf}, nil
}

// ElementType is the code of the elements' type.
func (t *Dense) ElementType() bef.AttrType { return t.elem.code }

// Buffer is the tensor's memory, borrowed.
func (t *Dense) Buffer() *runtime.HostBuffer { return t.buf }
