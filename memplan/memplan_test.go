package memplan_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/memplan"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
)

// ledger is an allocator that keeps what was asked of it.
type ledger struct {
	runtime.HostAllocator
	mu    sync.Mutex
	asked []int64
}

func (l *ledger) Allocate(bytes, align int64) ([]byte, error) {
	l.mu.Lock()
	l.asked = append(l.asked, bytes)
	l.mu.Unlock()
	return l.HostAllocator.Allocate(bytes, align)
}

// programs lists the programs that the repository has, and of the shared corpus those that run on one device.
func programs(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"../testdata/run/*.hlo", "../testdata/run/*/prog.hlo", "../../shared/corpus/reference/programs/*/prog.hlo",
		"../../shared/corpus/hlo/backends/cpu/benchmarks/hlo/*.hlo", "../../shared/corpus/overlap/*/prog.hlo"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		if len(found) == 0 {
			t.Logf("%s: no such files; the shared corpus may be absent", pattern)
		}
		files = append(files, found...)
	}
	return files
}

// load compiles a program; nil if it does not compile.
func load(t *testing.T, file string, alloc runtime.HostAllocator) (text, m hlo.Module, p *halo.Program) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	v, err := halo.LoadBytes(file, data)
	if err != nil {
		return text, m, nil
	}
	pipeline, err := passes.Parse("cpu")
	require.NoError(t, err)
	m, err = (&pass.Runner{}).Run(t.Context(), pipeline, v.HLO())
	if err != nil {
		return text, m, nil
	}
	p, err = halo.Compile(t.Context(), halo.Trust(m), halo.Options{Pipeline: new(pass.Pipeline), Allocator: alloc})
	if err != nil {
		return text, m, nil
	}
	t.Cleanup(p.Close)
	return v.HLO(), m, p
}

// TestAllocator: what the report says of an execution is what the allocator is asked for, to the byte, and no two buffers that are alive at once
// overlap.
func TestAllocator(t *testing.T) {
	const mostBytes = 1 << 30
	seen := 0
	for _, file := range programs(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "../"), "/prog.hlo")
		t.Run(name, func(t *testing.T) {
			l := &ledger{HostAllocator: runtime.NewHeapAllocator()}
			text, _, p := load(t, file, l)
			if p == nil {
				t.Skip("it does not compile")
			}
			lowered, _ := kernels.Module(p.Runtime())
			r, err := memplan.New(p.Runtime(), lowered, text)
			require.NoError(t, err)
			if plain(t, p) {
				assert.NoError(t, r.Check())
			}
			assert.LessOrEqual(t, r.Peak, r.Frame)
			if testing.Short() || r.Total > mostBytes || r.Devices > 1 {
				return
			}
			var args []*hlo.Literal
			for i, v := range p.Signature().Parameters {
				a, err := arrays.Fill("zeros", 0, i, v.Shape)
				require.NoError(t, err)
				args = append(args, a)
			}
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second) // some loop for ever on zeros
			defer stop()
			if _, err := p.Run(ctx, args...); err != nil && len(l.asked) == 0 {
				t.Skipf("it does not run on zeros: %v", err)
			}
			require.NotEmpty(t, l.asked)
			assert.Equal(t, r.Arena, l.asked[0])
			for _, more := range l.asked[1:] { // asynchronous operations in memory of their own
				known := false
				for _, d := range r.Detached {
					known = known || d.Bytes == more
				}
				assert.True(t, known, "%d bytes that the report does not have", more)
			}
			seen++
		})
	}
	if !testing.Short() {
		assert.Greater(t, seen, 4)
	}
}

// plain reports whether no function of the program runs parts beside each other.
func plain(t *testing.T, p *halo.Program) bool {
	t.Helper()
	plan, err := runtime.DecodeBufferPlan(p.Runtime().File().Extension(runtime.SectionBufferPlan))
	require.NoError(t, err)
	for i := range plan.Functions {
		if len(plan.Functions[i].Segments) > 0 {
			return false
		}
	}
	return true
}
