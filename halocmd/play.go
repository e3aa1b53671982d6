package halocmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/gohalo/halo/internal/play"
	"github.com/gohalo/halo/internal/view"
)

// playCmd makes a page in which halo runs.
type playCmd struct {
	HTML   string `name:"html" help:"Write the page to a file, and serve nothing." placeholder:"FILE"`
	Source string `help:"A clone of halo's repository, to build from. Default: the current folder." default:"." placeholder:"DIR"`
	Port   int    `help:"Serve at this port; 0 is any that is free." default:"0"`
	Open   bool   `help:"Open the browser."`
}

// Help is what --help says beyond the flags.
func (playCmd) Help() string {
	return `Makes one static page in which halo itself runs, as WebAssembly: the viewer, fmt, verify, opt, run and every other command, on a text beside them. Nothing leaves the
page, so that it can stand on any web server, or be sent as a file of some 14 MB.

The page is built from a clone of the repository by the Go toolchain, which takes a minute the first time.

  halo play --open
  halo play --html=play.html`
}

func (c *playCmd) Run(e *env) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Fprintln(e.stderr, "building halo for browsers…")
	b, err := play.Build(ctx, c.Source)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		return create(c.HTML, func(w io.Writer) error { return play.WritePage(w, b) })
	}
	var page bytes.Buffer
	if err := play.WritePage(&page, b); err != nil {
		return err
	}
	return serve(e, &view.Site{Files: map[string][]byte{"": page.Bytes()}}, c.Port, c.Open)
}
