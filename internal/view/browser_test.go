package view_test

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/internal/browser"
	"github.com/gohalo/halo/internal/view"
)

var update = flag.Bool("update", false, "take the pictures of docs/view.md anew")

// start runs a browser, or skips where there is none.
func start(t *testing.T) *browser.Browser {
	t.Helper()
	b, err := browser.Start()
	if errors.Is(err, browser.ErrNone) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

// program reads a file as the command does.
func program(t *testing.T, path string) *view.Program {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	m, err := source.Read(path, data, source.Options{})
	require.NoError(t, err)
	p, err := view.New(filepath.Base(path), m, analysis.OneCore)
	require.NoError(t, err)
	return p
}

// served is the address at which programs are served as long as the test runs.
func served(t *testing.T, paths ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &view.Site{Load: func(k int) (*view.Program, error) { return program(t, paths[k]), nil }}
	for _, path := range paths {
		s.Names = append(s.Names, filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path))
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- view.Serve(ctx, l, s) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-done)
	})
	return "http://" + l.Addr().String() + "/"
}

// visitor is a page with what tests ask of it.
type visitor struct {
	t *testing.T
	*browser.Page
}

func visit(t *testing.T, b *browser.Browser, url string) visitor {
	p, err := b.Open(url)
	require.NoError(t, err)
	require.NoError(t, p.Wait("window.app && app.program"), b.Errors())
	return visitor{t, p}
}

func (v visitor) text(expression string) (s string) {
	v.t.Helper()
	require.NoError(v.t, v.Eval(expression, &s))
	return s
}

func (v visitor) do(err error) {
	v.t.Helper()
	require.NoError(v.t, err)
}

// settled waits until nothing moves.
func (v visitor) settled() {
	v.t.Helper()
	v.do(v.Eval("new Promise(r => setTimeout(r, 350))", nil))
}

const transformer = "../../testdata/run/transformer_block/prog.hlo"

func TestBrowserFindsTheMostExpensive(t *testing.T) {
	b := start(t)
	v := visit(t, b, served(t, transformer))
	assert.Contains(t, v.text(`document.querySelector("#summary").textContent`), "instructions in")
	assert.Contains(t, v.text(`document.querySelector("#panel").textContent`), "How to read this", "the page explains itself")
	if *update {
		v.do(v.Picture("../../docs/view-first.png"))
	}
	v.do(v.Click("#lists li")) // one click
	v.settled()
	want := v.text("app.program.names[app.program.expensive(1)[0]]")
	assert.Contains(t, v.text(`document.querySelector("#panel").textContent`), "%"+want)
	assert.Equal(t, want, v.text("app.program.names[app.selected]"))
	assert.Equal(t, want, v.text(`(() => { const { clientWidth: w, clientHeight: h } = app.canvas; return app.painter.at(app.root, w / 2, h / 2).label; })()`), "it is in the middle")
	assert.Equal(t, "#"+want, v.text("decodeURIComponent(location.hash)"), "a link leads there")
	if *update {
		v.do(v.Picture("../../docs/view-op.png"))
	}
	assert.Empty(t, b.Errors())
}

func TestBrowserSearches(t *testing.T) {
	b := start(t)
	v := visit(t, b, served(t, transformer))
	v.do(v.Key("/"))
	v.do(v.Type("op:dot"))
	v.do(v.Wait("app.lists.results.length > 0"))
	assert.Equal(t, "dot", v.text("[...new Set(app.lists.results.map(i => app.program.opOf(i)))].join()"))
	v.do(v.Key("Enter"))
	assert.Equal(t, v.text("app.program.names[app.lists.results[0]]"), v.text("app.program.names[app.selected]"))
	for query, holds := range map[string]string{
		"name:dot":             `app.lists.results.every(i => app.program.names[i].includes("dot"))`,
		"shape:f32[ op:reduce": `app.lists.results.every(i => app.program.opOf(i).includes("reduce") && app.program.shapeOf(i).includes("f32["))`,
		"contracting_dims":     `app.lists.results.every(i => app.program.text[i].includes("contracting_dims"))`,
		"no.such.thing":        `document.querySelector("#lists").textContent.startsWith("Nothing found")`,
	} {
		v.do(v.Eval("app.lists.find("+quoted(query)+")", nil))
		v.do(v.Wait(holds))
	}
	assert.Empty(t, b.Errors())
}

func quoted(s string) string { return `"` + s + `"` }

func TestBrowserOpensAndCloses(t *testing.T) {
	b := start(t)
	v := visit(t, b, served(t, transformer))
	var at []float64
	// The first pile of cards that is all in the window, and where it stands.
	pile := `(() => { const f = app.root.children.find(f => f.instruction < 0 && f.kind !== "parameters"); window.pile = f; const p = positionOf(f), { x, y, scale } = app.painter.view,
		r = app.canvas.getBoundingClientRect(); return [r.x + x + (p.x + f.width / 2) * scale, r.y + y + (p.y + 14) * scale]; })()`
	v.do(v.Eval(pile, &at))
	v.do(v.ClickAt(at[0], at[1]))
	v.do(v.Wait("pile.open && pile.children.length > 1"))
	v.settled()
	v.do(v.Eval(pile, &at))
	v.do(v.ClickAt(at[0], at[1])) // its title
	v.do(v.Wait("!pile.open"))
	assert.Empty(t, b.Errors())
}

func TestBrowserNeighboursAndPaths(t *testing.T) {
	b := start(t)
	v := visit(t, b, served(t, transformer))
	v.do(v.Key("e"))
	v.do(v.Key("n"))
	v.do(v.Wait(`app.root.kind === "near" && app.root.steps === 2`))
	v.do(v.Key("n"))
	v.do(v.Wait("app.root.steps === 3"))
	v.do(v.Wait("app.root.children.every(f => f.width > 0)"))
	v.do(v.Key("Escape"))
	v.do(v.Wait("app.root === app.folding.root"))
	// All between the most expensive instruction and the root: whatever is left out would be on no path.
	v.do(v.Eval(`app.mark("a", app.program.expensive(1)[0]), app.mark("b", app.program.computations[app.program.entry].root)`, nil))
	v.do(v.Wait(`app.root.kind === "near" && app.root.members.length > 2`))
	v.do(v.Wait(`app.root.members.every(i => i === app.root.members[0] || app.program.operandsOf(i).some(o => app.root.members.includes(o)))`))
	assert.Empty(t, b.Errors())
}

func TestBrowserColours(t *testing.T) {
	b := start(t)
	v := visit(t, b, served(t, "../../testdata/run/async_overlap/prog.hlo"))
	v.do(v.Wait(`app.program.overlays.some(o => o.id === "chains" && o.links.length > 0)`))
	v.do(v.Eval(`app.colourBy("chains"), app.repaint()`, nil))
	v.do(v.Wait(`document.querySelector("#legend").textContent.includes("exposed")`))
	v.do(v.Eval(`app.select(app.program.overlays.find(o => o.id === "chains").links[0][0])`, nil))
	v.do(v.Wait("app.colours.links(app.root).length > 0"))
	v.settled()
	for range 8 {
		v.do(v.Key("o"))
	}
	v.do(v.Dark(true))
	v.settled()
	assert.Empty(t, b.Errors())
}

func TestBrowserFolders(t *testing.T) {
	b := start(t)
	v := visit(t, b, served(t, transformer, "../../testdata/run/convnet/prog.hlo"))
	first := v.text("app.program.name")
	v.do(v.Eval(`(() => { const f = document.querySelector("#files"); f.value = "1"; f.dispatchEvent(new Event("change")); })()`, nil))
	v.do(v.Wait("app.program.name !== " + quoted(first)))
	assert.Empty(t, b.Errors())
}

// TestBrowserLargest looks at the largest text of the corpus, in a file of its own.
func TestBrowserLargest(t *testing.T) {
	largest := "../../../shared/corpus/hlo/tools/benchmarks/hlo/hlo_mixtral_8x7b_bf16_1x8.hlo"
	if _, err := os.Stat(largest); err != nil {
		t.Skip("there is no corpus beside the repository")
	}
	b := start(t)
	path := filepath.Join(t.TempDir(), "mixtral.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, view.WritePage(f, program(t, largest)))
	require.NoError(t, f.Close())
	v := visit(t, b, "file://"+path)
	v.do(v.Key("e"))
	v.do(v.Eval(`app.lists.find("all-reduce f32")`, nil))
	v.do(v.Wait("app.lists.results.length > 1000"))
	v.settled()
	used, err := v.Metric("JSHeapUsedSize")
	require.NoError(t, err)
	assert.Less(t, used, 500e6)
	var took, paint, shown float64
	v.do(v.Eval("app.lists.took", &took))
	v.do(v.Eval(`performance.getEntriesByName("first-contentful-paint")[0].startTime`, &paint))
	v.do(v.Eval(`performance.getEntriesByName("shown")[0].startTime`, &shown))
	t.Logf("first paint after %.0f ms, program after %.0f ms, search %.1f ms, memory %.0f MB", paint, shown, took, used/1e6)
	assert.Empty(t, b.Errors())
}
