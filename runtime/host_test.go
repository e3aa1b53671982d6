package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/workqueue"
)

// hostTest is a loaded host program with its journal.
type hostTest struct {
	journal *journal
	host    *runtime.Host
	program *runtime.Program
}

func loadHost(t testing.TB, queue, text string, o runtime.LoadOptions) *hostTest {
	t.Helper()
	checkLeaks(t)
	p, err := hostprog.Parse("test.mlir", text)
	require.NoError(t, err)
	file, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
	require.NoError(t, err)
	h := &hostTest{journal: &journal{meeting: make(chan struct{})}}
	q, err := workqueue.New(queue)
	require.NoError(t, err)
	t.Cleanup(q.Close)
	h.host = runtime.NewHost(runtime.HostOptions{Queue: q, Diagnostics: func(e *runtime.Error) {
		h.journal.printf("%d: %s", e.Location.Line, e.Message)
	}})
	o.Host = h.host
	h.program, err = runtime.Load(throughBytes(t, file), hostKernels(h.journal), o)
	require.NoError(t, err)
	return h
}

// run executes a function without arguments the way a driver does, and returns what was printed and the results.
func (h *hostTest) run(t testing.TB, name string) string {
	t.Helper()
	f := h.program.Function(name)
	require.NotNil(t, f, name)
	req := runtime.NewRequest(t.Context(), h.host, runtime.RequestOptions{})
	defer req.Close()
	results := make([]*async.Value, f.NumResults())
	h.journal.walked = make(chan struct{})
	require.NoError(t, f.Execute(req.NewExecContext(), nil, results))
	close(h.journal.walked)
	require.NoError(t, h.host.Queue().Await(t.Context(), results...))
	h.host.Quiesce()
	if len(results) > 0 {
		texts := make([]string, len(results))
		for i, v := range results {
			texts[i] = show(v)
			v.DropRef()
		}
		h.journal.printf("returned %s", strings.Join(texts, ","))
	}
	return h.journal.take()
}

func show(v *async.Value) string {
	if st := v.Status(); st != nil {
		if st.Code != async.Internal {
			return fmt.Sprintf("<<error: %s, code: %v>>", st.Message, st.Code)
		}
		return fmt.Sprintf("<<error: %s>>", st.Message)
	}
	if x, ok := async.GetIfPresent[int32](v); ok {
		return fmt.Sprint(x)
	}
	if x, ok := async.GetIfPresent[bool](v); ok {
		return fmt.Sprint(x)
	}
	return "value"
}

// TestHostPrograms runs testdata/host. A file has a program and for each function that is run a section with what it
// prints. Sections are named by the rows of the conformance list that they prove. The single-threaded queue must give
// exactly that; the multi-threaded one, and sequential functions, the same lines in any order, unless the section says "single" or "multi" only. The word
// "strict" makes all kernels strict.
func TestHostPrograms(t *testing.T) {
	for _, ar := range archives.All(t, "testdata/host/*.txtar") {
		var text string
		for _, section := range ar.Files {
			if section.Name == "program" {
				text = string(section.Data)
				continue
			}
			words := strings.Fields(section.Name)
			for _, mode := range []string{"single", "multi:4", "single sequential", "multi:4 sequential"} {
				queue, sequential, _ := strings.Cut(mode, " ")
				if kind, _, _ := strings.Cut(queue, ":"); slices.Contains(words, "single") && kind != "single" || slices.Contains(words, "multi") && kind != "multi" {
					continue
				}
				t.Run(words[0]+"/"+mode, func(t *testing.T) {
					h := loadHost(t, queue, text, runtime.LoadOptions{Strict: slices.Contains(words, "strict"), Sequential: sequential != ""})
					want := strings.TrimSpace(string(section.Data))
					for range 3 { // executions are used again
						got := h.run(t, words[0])
						if mode != "single" {
							want, got = sortLines(want), sortLines(got)
						}
						require.Equal(t, want, got)
						require.Zero(t, h.journal.live.Load(), "every value is destroyed")
					}
				})
			}
		}
	}
}

func sortLines(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
