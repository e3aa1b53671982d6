package runtime_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/workqueue"
)

// addLoop is the loop of toy.add.
func addLoop(n int, d, a, b, _ unsafe.Pointer) {
	x, y, z := unsafe.Slice((*int32)(a), n), unsafe.Slice((*int32)(b), n), unsafe.Slice((*int32)(d), n)
	for i := range z {
		z[i] = x[i] + y[i]
	}
}

// toyKernels are tensor kernels on vectors of i32.
func toyKernels() *runtime.Registry {
	reg := runtime.NewRegistry()
	binary2 := func(op func(a, b int32) int32) runtime.TensorBinder {
		return func(b *runtime.Binding) (runtime.Bound, error) {
			if len(b.In) != 2 || len(b.Out) != 1 || b.In[0].Bytes != b.Out[0].Bytes || b.In[1].Bytes != b.Out[0].Bytes {
				return runtime.Bound{}, errors.New("operands and result must have one shape")
			}
			return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
				x, y, z := f.In(0).Data, f.In(1).Data, f.Out(0).Data
				for i := 0; i < len(z); i += 4 {
					put(z[i:], op(get(x[i:]), get(y[i:])))
				}
				return nil
			}}, nil
		}
	}
	run := func(k runtime.TensorKernel) runtime.TensorBinder {
		return func(*runtime.Binding) (runtime.Bound, error) { return runtime.Bound{Run: k}, nil }
	}
	sum := binary2(func(a, b int32) int32 { return a + b })
	reg.Tensor("toy.add", func(b *runtime.Binding) (runtime.Bound, error) {
		bound, err := sum(b)
		if n := int(b.Out[0].Bytes / 4); n > 0 && n <= 4 { // what loops call instead, without a frame
			bound.Small = []runtime.SmallCall{{Loop: addLoop, N: n, D: runtime.Place{Kind: runtime.InOutput},
				A: runtime.Place{Kind: runtime.InInput}, B: runtime.Place{Kind: runtime.InInput, Index: 1}}}
		}
		return bound, err
	})
	reg.Tensor("toy.mul", binary2(func(a, b int32) int32 { return a * b }))
	reg.Tensor("toy.prepared", func(b *runtime.Binding) (runtime.Bound, error) {
		bound, err := sum(b)
		plain := bound.Run
		bound.Prepare = &runtime.Preparation{In: 1, Bytes: b.In[1].Bytes, Run: func(f *runtime.TensorFrame) {
			for i := 0; i < len(f.Kept()); i += 4 {
				put(f.Kept()[i:], get(f.In(1).Data[i:])+100)
			}
		}}
		bound.Run = func(f *runtime.TensorFrame) error {
			for i := 0; i < len(f.Kept()); i += 4 {
				put(f.Out(0).Data[i:], get(f.In(0).Data[i:])+get(f.Kept()[i:]))
			}
			if f.Kept() != nil {
				return nil
			}
			return plain(f)
		}
		return bound, err
	})
	reg.Tensor("toy.copy", run(func(f *runtime.TensorFrame) error {
		copy(f.Out(0).Data, f.In(0).Data)
		return nil
	}))
	reg.Tensor("toy.less", run(func(f *runtime.TensorFrame) error { // pred[] = in0[0] < in1[0]
		f.Out(0).Data[0] = 0
		if get(f.In(0).Data) < get(f.In(1).Data) {
			f.Out(0).Data[0] = 1
		}
		return nil
	}))
	reg.Tensor("toy.nothing", func(*runtime.Binding) (runtime.Bound, error) { return runtime.Bound{}, nil })
	reg.Tensor("toy.fail", run(func(*runtime.TensorFrame) error { return errors.New("something bad happened") }))
	reg.Tensor("toy.panic", run(func(*runtime.TensorFrame) error { panic("toy panic") }))
	reg.Tensor("toy.reverse", func(b *runtime.Binding) (runtime.Bound, error) { // through scratch
		return runtime.Bound{Scratch: b.In[0].Bytes, Run: func(f *runtime.TensorFrame) error {
			s := f.Scratch()
			copy(s, f.In(0).Data)
			for i := 0; i < len(s); i += 4 {
				put(f.Out(0).Data[len(s)-4-i:], get(s[i:]))
			}
			return nil
		}}, nil
	})
	reg.Tensor("toy.sum", run(func(f *runtime.TensorFrame) error { // i32[1], in parts of three
		var parts [64]int32
		f.ParallelFor(len(f.In(0).Data)/4, 3, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				parts[lo/3] += get(f.In(0).Data[4*i:])
			}
		})
		total := int32(0)
		for _, p := range parts {
			total += p
		}
		put(f.Out(0).Data, total)
		return nil
	}))
	reg.Tensor("toy.later", func(*runtime.Binding) (runtime.Bound, error) { // copies in a task
		return runtime.Bound{RunAsync: func(f *runtime.TensorFrame) *async.Value {
			return async.MakeAsync(f.Ctx().Queue, func() (async.Chain, error) {
				copy(f.Out(0).Data, f.In(0).Data)
				return async.Chain{}, nil
			}).Value()
		}}, nil
	})
	reg.Tensor("toy.foreign", func(*runtime.Binding) (runtime.Bound, error) { // copies on a goroutine that is no worker
		return runtime.Bound{RunAsync: func(f *runtime.TensorFrame) *async.Value {
			v := async.MakeUnconstructed[async.Chain]()
			go func() {
				copy(f.Out(0).Data, f.In(0).Data)
				v.Emplace(async.Chain{})
			}()
			return v.Value()
		}}, nil
	})
	reg.Tensor("toy.in-worker", run(func(f *runtime.TensorFrame) error {
		put(f.Out(0).Data, 0)
		if f.Ctx().Queue.IsInWorkerThread() {
			put(f.Out(0).Data, 1)
		}
		return nil
	}))
	reg.Tensor("toy.fail-later", func(*runtime.Binding) (runtime.Bound, error) {
		return runtime.Bound{RunAsync: func(f *runtime.TensorFrame) *async.Value {
			return async.MakeAsync(f.Ctx().Queue, func() (async.Chain, error) {
				return async.Chain{}, errors.New("failed later")
			}).Value()
		}}, nil
	})
	reg.Tensor("toy.until-cancelled", func(*runtime.Binding) (runtime.Bound, error) {
		return runtime.Bound{RunAsync: func(f *runtime.TensorFrame) *async.Value {
			v := async.MakeUnconstructed[async.Chain]()
			context.AfterFunc(f.Ctx().Context(), func() { v.SetError(errors.New("stopped")) })
			return v.Value()
		}}, nil
	})
	reg.Tensor("toy.text", func(b *runtime.Binding) (runtime.Bound, error) { // fills with the attribute
		s, err := b.StringAttr(0)
		if err != nil {
			return runtime.Bound{}, err
		}
		n, err := strconv.Atoi(s)
		return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
			for z := f.Out(0).Data; len(z) > 0; z = z[4:] {
				put(z, int32(n))
			}
			return nil
		}}, err
	})
	return reg
}

func get(b []byte) int32    { return int32(binary.NativeEndian.Uint32(b)) }
func put(b []byte, v int32) { binary.NativeEndian.PutUint32(b, uint32(v)) }

// onEveryQueue runs a test on a single-threaded and on a multi-threaded host.
func onEveryQueue(t *testing.T, f func(t *testing.T, host *runtime.Host)) {
	for _, name := range []string{"single", "multi:4"} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			q, err := workqueue.New(name)
			require.NoError(t, err)
			defer q.Close()
			profile := &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}
			f(t, runtime.NewHost(runtime.HostOptions{Queue: q, Allocator: profile}))
		})
	}
}

// TestTensorPrograms runs testdata/tensor. A file has a program and, in "run", lines such as
//
//	main [1 2] [3] -> [4 5]
//	main [1 2] [3] -> error: text
//
// or, in "load" or "check", a text that the error of loading or of CheckPlans contains. Every line runs three times, to see instances used again.
func TestTensorPrograms(t *testing.T) {
	for file, ar := range archives.All(t, "testdata/tensor/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			onEveryQueue(t, func(t *testing.T, host *runtime.Host) { runTensorArchive(t, host, ar) })
		})
	}
}

func runTensorArchive(t *testing.T, host *runtime.Host, ar *txtar.Archive) {
	var program *runtime.Program
	var loadErr error
	for _, section := range ar.Files {
		text := strings.TrimSpace(string(section.Data))
		switch kind, _, _ := strings.Cut(section.Name, " "); kind {
		case "program":
			f, err := assemble(text)
			require.NoError(t, err)
			f = throughBytes(t, f)
			program, loadErr = runtime.Load(f, toyKernels(), runtime.LoadOptions{Host: host})
		case "load":
			assert.ErrorContains(t, loadErr, text)
			loadErr = nil
		case "check":
			require.NoError(t, loadErr)
			if err := program.CheckPlans(); text == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, text)
			}
		case "run":
			require.NoError(t, loadErr)
			assert.NoError(t, program.CheckPlans())
			for _, line := range strings.Split(text, "\n") {
				for range 3 {
					runTensorLine(t, program, line)
				}
			}
			program.Trim()
			stats := host.Allocator().(*runtime.ProfileAllocator).Stats()
			assert.Zero(t, stats.LiveAllocations, "memory is given back")
		}
	}
	require.NoError(t, loadErr)
}

// throughBytes encodes and decodes a file, so that everything is tested as it is loaded in earnest.
func throughBytes(t testing.TB, f *bef.File) *bef.File {
	var b bytes.Buffer
	require.NoError(t, bef.Encode(&b, f, bef.EncodeOptions{Extensions: true}))
	g, err := bef.Decode(b.Bytes(), bef.DecodeOptions{})
	require.NoError(t, err)
	return g
}

func runTensorLine(t *testing.T, program *runtime.Program, line string) {
	call, want, ok := strings.Cut(line, " -> ")
	require.True(t, ok, "line %q", line)
	name, rest, _ := strings.Cut(call, " ")
	fn := program.Function(name)
	require.NotNil(t, fn, name)
	args := make([]runtime.Buffer, 0)
	for i, typ := range fn.ArgTypes() {
		b := typ.NewBuffer()
		list, more, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(rest), "["), "]")
		rest = more
		for j, s := range strings.Fields(list) {
			n, err := strconv.Atoi(s)
			require.NoError(t, err, "argument %d", i)
			if typ.Type == typePred {
				b.Data[j] = byte(n)
			} else {
				put(b.Data[4*j:], int32(n))
			}
		}
		args = append(args, b)
	}
	results := fn.NewResults()
	err := fn.Run(t.Context(), runtime.RunOptions{}, args, results)
	if text, isError := strings.CutPrefix(want, "error: "); isError {
		assert.ErrorContains(t, err, text, line)
		return
	}
	if !assert.NoError(t, err, line) {
		return
	}
	var got []string
	for _, b := range results {
		var nums []string
		for d := b.Data; len(d) > 0; {
			if b.Type == typePred {
				nums, d = append(nums, fmt.Sprint(d[0])), d[1:]
			} else {
				nums, d = append(nums, fmt.Sprint(get(d))), d[4:]
			}
		}
		got = append(got, "["+strings.Join(nums, " ")+"]")
	}
	assert.Equal(t, want, strings.Join(got, " "), line)
}
