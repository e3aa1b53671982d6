package play_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/browser"
	"github.com/gohalo/halo/internal/play"
)

var update = flag.Bool("update", false, "take the picture of docs/view.md anew")

func TestWritePage(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, play.WritePage(&b, &play.Binary{Wasm: []byte("\x00asm"), Exec: []byte(`"</script>"`)}))
	page := b.String()
	assert.NotContains(t, page, "{{")
	assert.NotContains(t, page, `"</script>"`, "nothing ends a script but its end")
	assert.Contains(t, page, "transformer.hlo")
	assert.NotRegexp(t, `(src|href)="?(https?:)?//`, page, "nothing is fetched from elsewhere")
	assert.Equal(t, strings.Count(page, "<script"), strings.Count(page, "</script>"))
}

func TestBuildElsewhere(t *testing.T) {
	_, err := play.Build(context.Background(), t.TempDir())
	assert.ErrorContains(t, err, "--source=DIR says where one is")
}

// TestBrowserPlay builds the page and works with it as a person does.
func TestBrowserPlay(t *testing.T) {
	if testing.Short() {
		t.Skip("building halo for browsers takes a minute")
	}
	b, err := browser.Start()
	if errors.Is(err, browser.ErrNone) {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer b.Close()
	binary, err := play.Build(context.Background(), ".")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "play.html")
	var page, packed bytes.Buffer
	require.NoError(t, play.WritePage(&page, binary))
	require.NoError(t, os.WriteFile(path, page.Bytes(), 0o666))
	z := gzip.NewWriter(&packed)
	_, err = z.Write(page.Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	assert.Less(t, packed.Len(), 15<<20, "the page, as servers send it, stays under 15 MB")
	t.Logf("the page has %.1f MB, compressed %.1f MB", float64(page.Len())/1e6, float64(packed.Len())/1e6)

	p, err := b.Open("file://" + path)
	require.NoError(t, err)
	do := func(err error) {
		t.Helper()
		require.NoError(t, err, b.Errors())
	}
	do(p.Wait(`document.querySelector("#state").textContent.startsWith("ready")`))
	do(p.Wait(`document.querySelector("#viewer").contentWindow.app?.program`)) // the viewer shows the example
	if *update {
		do(p.Eval("new Promise(r => setTimeout(r, 500))", nil))
		do(p.Picture("../../docs/view-play.png"))
	}
	for _, x := range []struct{ button, holds string }{
		{"Format", "ENTRY %main"}, {"Verify", "Nothing to report"}, {"Optimise", "HloModule"}, {"Run", "f32[2,12,32] {"}, {"Cost", "most expensive"},
	} {
		do(p.Eval(`(document.querySelector("#output").textContent = "", delete document.querySelector("#output").dataset.code,
			[...document.querySelectorAll("#actions button")].find(b => b.textContent === "`+x.button+`").click())`, nil))
		do(p.Wait(`document.querySelector("#output").dataset.code === "0"`))
		var text string
		do(p.Eval(`document.querySelector("#output").textContent`, &text))
		assert.Contains(t, text, x.holds, x.button)
	}
	// A program with a fault, by the command line of the page.
	do(p.Eval(`(document.querySelector("#text").value = "HloModule m\nENTRY e { ROOT p = f32[2]{0} nosuchop() }", run("verify -"))`, nil))
	do(p.Wait(`document.querySelector("#output").dataset.code === "1" && document.querySelector("#output .bad").textContent.includes("nosuchop")`))
	assert.Empty(t, b.Errors())
}
