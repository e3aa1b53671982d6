package halocmd

import (
	"fmt"

	"github.com/gohalo/halo"
)

// manCmd writes the manual.
type manCmd struct{}

// Help is what --help says beyond the flags.
func (manCmd) Help() string {
	return `The page is in the language of man.

  halo man > ~/.local/share/man/man1/halo.1
  halo man | man -l -`
}

func (manCmd) Run(e *env) error { return e.line.Manual(e.stdout, halo.Version()) }

// versionCmd prints the version.
type versionCmd struct{}

func (versionCmd) Run(e *env) error {
	_, err := fmt.Fprintln(e.stdout, halo.Version())
	return err
}
