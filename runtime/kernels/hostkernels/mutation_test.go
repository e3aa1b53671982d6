package hostkernels_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/lower/hosthlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

var (
	mutateEvery = flag.Int("mutate.every", 0, "try each n-th mutant of each file; 1 for all, which takes minutes; 0 for some of each")
	mutateOnly  = flag.String("mutate.only", "", "part of the name of the file to mutate")
	mutateFrom  = flag.Int("mutate.from", 0, "first mutant to try")
)

// eachMutant changes one byte of a file at a time, and has it tried: some of the possible changes, or those that the flags say. The function
// reports whether the file could be loaded.
func eachMutant(t *testing.T, name string, original []byte, values func(byte) []byte, some int, try func(b []byte, what string) bool) {
	b := bytes.Clone(original)
	step := *mutateEvery
	if step == 0 {
		step = max(1, len(b)*len(values(0))/some)
	}
	n, tried, loaded := 0, 0, 0
	for i := range b {
		for _, v := range values(original[i]) {
			if n++; n%step != 0 || n < *mutateFrom {
				continue
			}
			tried++
			b[i] = v
			what := func() string { return fmt.Sprintf("%s: mutant %d, byte %#x is %#02x", name, n, i, v) }
			watchdog := time.AfterFunc(time.Minute, func() { panic("hangs: " + what()) })
			if try(b, what()) {
				loaded++
			}
			watchdog.Stop()
		}
		b[i] = original[i]
	}
	t.Logf("%d of %d mutants load", loaded, tried)
}

// befFiles are the programs of testdata, of the design texts and of TFRT's tests, as bytes.
func befFiles(t testing.TB) map[string][]byte {
	files := make(map[string][]byte)
	add := func(name, text string) {
		p, err := hostprog.Read(name, text, hostprog.Config{})
		if err != nil {
			return
		}
		if f, err := hosthlo.Assemble(p, hostprog.AssembleOptions{}); err == nil {
			if files[name], err = bef.Marshal(f, bef.EncodeOptions{Extensions: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path, ar := range archives.All(t, "testdata/*.txtar") {
		for i, section := range ar.Files {
			if section.Name == "program" {
				add(fmt.Sprintf("%s/%d", filepath.Base(path), i), string(section.Data))
			}
		}
	}
	add("seeds", seedPrograms)
	shared := filepath.Join("..", "..", "..", "..", "shared", "corpus", "tfrt_tests")
	_ = filepath.WalkDir(shared, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".mlir") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, piece := range strings.Split(string(data), "// -----\n") {
			add(fmt.Sprintf("%s/%d", filepath.Base(path), i), piece)
		}
		return nil
	})
	return files
}

// allValues are the 255 other values of a byte.
func allValues(b byte) (list []byte) {
	for v := range 256 {
		if byte(v) != b {
			list = append(list, byte(v))
		}
	}
	return list
}

// someValues are what a byte of a larger file is changed to: every bit flipped, and the values at the edges.
func someValues(b byte) (list []byte) {
	for bit := range 8 {
		list = append(list, b^1<<bit)
	}
	for _, v := range []byte{0, 1, 0x7F, 0x80, 0xFF, b + 1, b - 1} {
		if v != b && !bytes.Contains(list, []byte{v}) {
			list = append(list, v)
		}
	}
	return list
}

// TestMutants changes one byte of a program, for every byte and many values. What comes of it is refused, or it runs to an end: values,
// errors, or a cancellation that it obeys. Which values is not asked: another constant or kernel makes another program.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const smallFile, some = 1500, 50
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	seedKernels(reg)
	for name, original := range befFiles(t) {
		if !strings.Contains(name, *mutateOnly) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			file, err := bef.Decode(original, bef.DecodeOptions{})
			require.NoError(t, err)
			values := someValues
			if len(original) < smallFile {
				values = allValues
			}
			eachMutant(t, name, original, values, some, func(b []byte, what string) bool { return runMutant(t, reg, file, b, what) })
		})
	}
}

// seedKernels are the kernels that the design texts name and do not define, without what their tests look for.
func seedKernels(reg *runtime.Registry) {
	live := new(int)
	reg.Kernel("test.thousand", runtime.PureNone(func() int32 { return 1000 }))
	reg.Kernel("test.counted", runtime.PureNone(func() counted { *live++; return counted{live} }))
	reg.Kernel("test.references", runtime.Pure2(func(counted, counted) int32 { return 2 }))
	reg.Kernel("async_kernel", runtime.Pure1(func(x counted) counted { x.AddRef(); return x }))
}

// runMutant loads and runs a file, and reports whether it could be loaded. Functions that are as in the original, and call none that are
// not, have been run elsewhere.
func runMutant(t *testing.T, reg *runtime.Registry, original *bef.File, b []byte, what string) bool {
	f, err := bef.Decode(bytes.Clone(b), bef.DecodeOptions{})
	if err != nil {
		return false
	}
	queue := workqueue.NewSingle()
	defer queue.Close()
	host := runtime.NewHost(runtime.HostOptions{Queue: queue, Diagnostics: func(*runtime.Error) {},
		Allocator: &runtime.BudgetAllocator{Base: runtime.NewHeapAllocator(), Limit: 64 << 20}})
	p, err := runtime.Load(f, reg, runtime.LoadOptions{Host: host, MaxBytes: 64 << 20})
	if err != nil {
		return false
	}
	changed := changedFunctions(original, f)
	for i, fn := range p.Functions() {
		if changed[i] && fn.Name() != "" && !fn.IsTensor() && fn.NumArgs() == 0 {
			runBounded(t, host, fn, what)
		}
	}
	return true
}

// changedFunctions tells which functions differ, or call one that does. With other tables or constants all do.
func changedFunctions(f, g *bef.File) []bool {
	changed := make([]bool, len(g.Functions))
	tables := !slices.Equal(f.Kernels, g.Kernels) || !slices.Equal(f.Types, g.Types) || !bytes.Equal(f.Attrs.Data, g.Attrs.Data) ||
		len(f.Functions) != len(g.Functions) || !reflect.DeepEqual(f.Extensions, g.Extensions)
	for i := range changed {
		changed[i] = tables || !reflect.DeepEqual(f.Functions[i], g.Functions[i])
	}
	for again := true; again; {
		again = false
		for i := range changed {
			for _, k := range g.Functions[i].Kernels {
				for _, callee := range k.Funcs {
					if changed[callee] && !changed[i] {
						changed[i], again = true, true
					}
				}
			}
		}
	}
	return changed
}

// runBounded runs a function for a short time, and then cancels it.
func runBounded(t *testing.T, host *runtime.Host, fn *runtime.Function, what string) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	resources := runtime.NewResourceContext()
	defer resources.Close()
	req := runtime.NewRequest(ctx, host, runtime.RequestOptions{
		Data: []any{hostkernels.NewConsole(io.Discard, io.Discard)}, Resources: resources})
	defer req.Close()
	results := make([]*async.Value, fn.NumResults())
	require.NoError(t, fn.Execute(req.NewExecContext(), nil, results), what)
	end, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	require.NoError(t, host.Queue().Await(end, results...), "%s: %s does not end", what, fn.Name())
	host.Quiesce()
	for _, v := range results {
		v.DropRef()
	}
}
