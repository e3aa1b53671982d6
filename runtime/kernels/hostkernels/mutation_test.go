package hostkernels_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

var (
	mutateEvery = flag.Int("mutate.every", 0, "try each n-th mutant of each file; 1 for all, which takes hours; 0 for some hundred of each")
	mutateOnly  = flag.String("mutate.only", "", "part of the name of the file to mutate")
	mutateFrom  = flag.Int("mutate.from", 0, "first mutant to try")
)

// befFiles are the programs of testdata and of TFRT's tests, as bytes.
func befFiles(t testing.TB) map[string][]byte {
	files := make(map[string][]byte)
	add := func(name, text string) {
		p, err := hostprog.Read(name, text, hostprog.Config{})
		if err != nil {
			return
		}
		if f, err := hostprog.Assemble(p, hostprog.AssembleOptions{}); err == nil {
			if files[name], err = bef.Marshal(f, bef.EncodeOptions{Extensions: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	for _, path := range archives {
		ar, err := txtar.ParseFile(path)
		require.NoError(t, err)
		for i, section := range ar.Files {
			if section.Name == "program" {
				add(fmt.Sprintf("%s/%d", filepath.Base(path), i), string(section.Data))
			}
		}
	}
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

// mutations are what a byte is changed to: every bit flipped, and the values at the edges; for small files every other value.
func mutations(b byte, all bool) (list []byte) {
	if all {
		for v := range 256 {
			if byte(v) != b {
				list = append(list, byte(v))
			}
		}
		return list
	}
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
// errors, or a cancellation that it obeys.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const smallFile, some = 600, 50
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	for name, original := range befFiles(t) {
		if !strings.Contains(name, *mutateOnly) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := bytes.Clone(original)
			n, step := 0, *mutateEvery
			if step == 0 {
				step = len(b) * len(mutations(0, len(b) < smallFile)) / some
			}
			loaded, tried := 0, 0
			for i := range b {
				for _, v := range mutations(original[i], len(b) < smallFile) {
					n++
					if n%step != 0 || n < *mutateFrom {
						continue
					}
					tried++
					b[i] = v
					if runMutant(t, reg, b, fmt.Sprintf("%s: mutant %d, byte %#x is %#02x", name, n, i, v)) {
						loaded++
					}
				}
				b[i] = original[i]
			}
			t.Logf("%d of %d mutants load", loaded, tried)
		})
	}
}

// runMutant loads and runs a file, and reports whether it could be loaded.
func runMutant(t *testing.T, reg *runtime.Registry, b []byte, what string) bool {
	watchdog := time.AfterFunc(30*time.Second, func() { panic("hangs: " + what) })
	defer watchdog.Stop()
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
	for _, fn := range p.Functions() {
		if fn.Name() == "" || fn.IsTensor() || fn.NumArgs() > 0 {
			continue
		}
		runBounded(t, host, fn, what)
	}
	return true
}

// runBounded runs a function for a short time, and then cancels it.
func runBounded(t *testing.T, host *runtime.Host, fn *runtime.Function, what string) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
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
