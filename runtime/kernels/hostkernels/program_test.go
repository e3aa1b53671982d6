package hostkernels_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/lower/hosthlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

var update = flag.Bool("update", false, "write what programs print into testdata")

// assemble makes a file of a text, through its bytes.
func assemble(t testing.TB, text string) *bef.File {
	t.Helper()
	p, err := hostprog.Read("p", text, hostprog.Config{})
	require.NoError(t, err)
	f, err := hosthlo.Assemble(p, hostprog.AssembleOptions{})
	require.NoError(t, err)
	b, err := bef.Marshal(f, bef.EncodeOptions{Extensions: true})
	require.NoError(t, err)
	f, err = bef.Decode(b, bef.DecodeOptions{})
	require.NoError(t, err)
	return f
}

// output collects what is printed, logged and reported, in order.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.text.Reset()
	return o.text.String()
}

// machine is a loaded program on a host of its own.
type machine struct {
	out     *output
	console *hostkernels.Console
	memory  *runtime.ProfileAllocator
	program *runtime.Program
}

type mode struct {
	queue           string
	strict, noScope bool // noScope: requests without resources
}

func load(t testing.TB, text string, m mode) *machine {
	t.Helper()
	q, err := workqueue.New(m.queue)
	require.NoError(t, err)
	t.Cleanup(q.Close)
	v := &machine{out: &output{}, memory: &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}}
	v.console = hostkernels.NewConsole(v.out, v.out)
	host := runtime.NewHost(runtime.HostOptions{Queue: q, Allocator: v.memory, Diagnostics: func(e *runtime.Error) {
		message, _, _ := strings.Cut(e.Message, "\n")
		v.console.Errorf("line %d: %s\n", e.Location.Line, message)
	}})
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	v.program, err = runtime.Load(assemble(t, text), reg, runtime.LoadOptions{Host: host, Strict: m.strict})
	require.NoError(t, err)
	return v
}

// run executes a function and returns what came of it.
func (v *machine) run(t testing.TB, name string, m mode) string {
	t.Helper()
	fn := v.program.Function(name)
	require.NotNil(t, fn, name)
	options := runtime.RequestOptions{Data: []any{v.console}}
	if !m.noScope {
		options.Resources = runtime.NewResourceContext()
	}
	req := runtime.NewRequest(t.Context(), v.program.Host(), options)
	defer req.Close()
	results := make([]*async.Value, fn.NumResults())
	require.NoError(t, fn.Execute(req.NewExecContext(), nil, results))
	require.NoError(t, v.program.Host().Queue().Await(t.Context(), results...))
	texts := make([]string, len(results))
	for i, r := range results {
		texts[i] = show(r)
		r.DropRef()
	}
	if len(results) > 0 {
		v.console.Printf("returned %s\n", strings.Join(texts, ", "))
	}
	v.program.Host().Quiesce()
	if !m.noScope {
		require.NoError(t, options.Resources.Close())
	}
	return v.out.take()
}

func show(v *async.Value) string {
	if st := v.Status(); st != nil {
		message, _, _ := strings.Cut(st.Message, "\n")
		return fmt.Sprintf("%v: %s", st.Code, message)
	}
	for _, f := range []func(*async.Value) string{
		showAs[bool], showAs[int32], showAs[int64], showAs[uint32], showAs[uint64], showAs[float32], showAs[float64],
		showAs[hostkernels.F16], showAs[hostkernels.BF16], showAs[complex64], showAs[complex128], showAs[string],
		showAs[hostkernels.Shape], showAs[hostkernels.Device], showAs[hostkernels.Tensor],
	} {
		if s := f(v); s != "" {
			return s
		}
	}
	return "value"
}

func showAs[T any](v *async.Value) string {
	if x, ok := async.GetIfPresent[T](v); ok {
		return fmt.Sprint(x)
	}
	return ""
}

// addresses and times differ from run to run.
var volatile = regexp.MustCompile(`0x[0-9a-f]+|(\(ns\)|\(percent\)): [0-9.e+-]+`)

func steady(s string) string {
	return volatile.ReplaceAllStringFunc(s, func(m string) string {
		if head, _, ok := strings.Cut(m, ": "); ok {
			return head + ": N"
		}
		return "0xN"
	})
}

// TestPrograms runs testdata. A file has a program, and a section with the output of each function that is run. The single-threaded queue
// must give exactly that, the multi-threaded one the same lines in any order. Words after the name of a function restrict that:
//
//	single      on that queue alone
//	multi       on the other alone
//	strict      with all kernels strict
//	noscope     without a resource context
//	leaks       memory is left
func TestPrograms(t *testing.T) {
	for file, ar := range archives.All(t, "testdata/*.txtar") {
		text := ""
		for i := range ar.Files {
			section := &ar.Files[i]
			if section.Name == "program" {
				text = string(section.Data)
				continue
			}
			words := strings.Fields(section.Name)
			has := func(w string) bool { return slices.Contains(words[1:], w) }
			for _, queue := range []string{"single", "multi:4"} {
				if has("single") && queue != "single" || has("multi") && queue == "single" {
					continue
				}
				t.Run(filepath.Base(file)+"/"+strings.Join(words, ",")+"/"+queue, func(t *testing.T) {
					m := mode{queue: queue, strict: has("strict"), noScope: has("noscope")}
					v := load(t, text, m)
					got := steady(v.run(t, words[0], m))
					if *update && (queue == "single" || has("multi")) {
						section.Data = []byte(got)
					}
					want := string(section.Data)
					if queue != "single" {
						want, got = sortLines(want), sortLines(got)
					}
					assert.Equal(t, want, got)
					if !has("leaks") {
						assert.Empty(t, v.memory.Leak())
					}
				})
			}
		}
		if *update {
			require.NoError(t, os.WriteFile(file, txtar.Format(ar), 0o666))
		}
	}
}

func sortLines(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// family drops element type and rank from the name of a kernel.
func family(name string) string {
	return regexp.MustCompile(`(\.(ui8|ui16|ui32|ui64|i1|i8|i32|i64|f16|bf16|f32|f64|bool|complex64|complex128|[0-9]))+$`).ReplaceAllString(name, "")
}

// TestEveryKernelIsTested holds testdata to the registry: every family of kernels is used in a program that is run.
func TestEveryKernelIsTested(t *testing.T) {
	used := make(map[string]bool)
	for _, ar := range archives.All(t, "testdata/*.txtar") {
		for _, section := range ar.Files {
			if section.Name == "program" {
				for _, k := range assemble(t, string(section.Data)).Kernels {
					used[family(k)] = true
				}
			}
		}
	}
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	missing := make(map[string]bool)
	for _, name := range reg.Names() {
		if !used[family(name)] {
			missing[family(name)] = true
		}
	}
	assert.Empty(t, missing)
}
