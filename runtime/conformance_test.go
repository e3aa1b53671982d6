package runtime_test

import (
	_ "embed"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
)

// conformanceRows are the ids of the rows of the runtime's conformance list.
//
//go:embed testdata/conformance.txt
var conformanceRows string

// TestEveryConformanceRowHasATest holds the list against the names of tests: of Go functions, as in TestV10StateChangesOnce, of subtests in
// tables, and of sections of archives.
func TestEveryConformanceRowHasATest(t *testing.T) {
	rows := strings.Fields(conformanceRows)
	require.Len(t, rows, 227)
	if spec, err := os.ReadFile("../../shared/spec/runtime.md"); err != nil {
		t.Log("the specification is absent: the list is taken as it is")
	} else {
		_, list, found := strings.Cut(string(spec), "\n## 20.")
		require.True(t, found)
		var want []string
		for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]+\d+) \|`).FindAllStringSubmatch(list, -1) {
			want = append(want, m[1])
		}
		require.Equal(t, want, rows)
	}
	tested := make(map[string]string)
	for _, root := range []string{".", "../halocmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			for _, id := range rowsTestedIn(t, path) {
				tested[id] = path
			}
			return nil
		})
		require.NoError(t, err)
	}
	var missing []string
	for _, id := range rows {
		if tested[id] == "" {
			missing = append(missing, id)
		}
	}
	assert.Empty(t, missing, "rows without a test")
	for id, path := range tested {
		assert.Contains(t, rows, id, "%s has a test of a row that the list does not have", path)
	}
}

const rowID = `(?:[BEALUDINYSXWRGVT]|FL?)\d\d?`

var (
	testFunction   = regexp.MustCompile(`(?m)^func Test((?:` + rowID + `)\w*)\(`)
	rowInName      = regexp.MustCompile(rowID)
	tableEntry     = regexp.MustCompile(`(?m)^\t+\{"(` + rowID + `)(?: [^"]*)?", `)
	archiveSection = regexp.MustCompile(`(?m)^-- (` + rowID + `\b.*) --$`)
)

// rowsTestedIn lists the rows that names in a file tell.
func rowsTestedIn(t *testing.T, path string) (ids []string) {
	goTest := strings.HasSuffix(path, "_test.go")
	if !goTest && filepath.Ext(path) != ".txtar" {
		return nil
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if !goTest {
		for _, m := range archiveSection.FindAllSubmatch(text, -1) {
			for _, id := range rowInName.FindAll(m[1], -1) {
				ids = append(ids, string(id))
			}
		}
		return ids
	}
	for _, m := range testFunction.FindAllSubmatch(text, -1) {
		for _, id := range rowInName.FindAll(m[1], -1) {
			ids = append(ids, string(id))
		}
	}
	for _, m := range tableEntry.FindAllSubmatch(text, -1) {
		ids = append(ids, string(m[1]))
	}
	return ids
}

// S01: after the cheap kernel the worker goes on with one of the two expensive streams and gives the other one away.
func TestS01ExpensiveStreamsOverlap(t *testing.T) {
	h := loadHost(t, "multi:2", `func.func @main(%c: !tfrt.chain) -> !tfrt.chain attributes {tfrt.cost_threshold = 10 : i64} {
  %cheap = "t.merge"(%c) : (!tfrt.chain) -> !tfrt.chain
  %a = "t.meet"(%cheap) : (!tfrt.chain) -> !tfrt.chain
  %b = "t.meet"(%cheap) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %cheap : !tfrt.chain
}
func.func @start() -> !tfrt.chain {
  %c = "t.chain"() : () -> !tfrt.chain
  %a = "t.async-call"(%c) {callee = @main} : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %a : !tfrt.chain
}`, runtime.LoadOptions{})
	assert.Equal(t, "returned value", h.run(t, "start"))
}

// G03: what a kernel that finishes on a goroutine of its own sets free runs on a worker of the queue.
func TestG03ForeignCompletionResumesOnAWorker(t *testing.T) {
	f, err := assemble(`func main frame=64
  x:i32[1] = arg
  a:i32[1]@arena(0) = toy.foreign x
  w:i32[1]@out(0) = toy.in-worker a
  return w
`)
	require.NoError(t, err)
	onEveryQueue(t, func(t *testing.T, host *runtime.Host) {
		if host.Queue().ParallelismLevel() == 1 {
			t.Skip("the queue has no workers")
		}
		p, err := runtime.Load(throughBytes(t, f), toyKernels(), runtime.LoadOptions{Host: host})
		require.NoError(t, err)
		fn := p.Function("main")
		results := fn.NewResults()
		done := fn.Start(t.Context(), runtime.RunOptions{}, argsOf(fn), results)
		require.NoError(t, host.Queue().Await(t.Context(), done.Value()))
		require.NoError(t, done.Err())
		assert.EqualValues(t, 1, get(results[0].Data))
	})
}
