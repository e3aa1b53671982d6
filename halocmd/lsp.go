package halocmd

import (
	"context"

	"github.com/gohalo/halo/internal/lsp"
)

// lspCmd serves editors.
type lspCmd struct {
	Stdio bool `help:"Talk over standard input and output, which it does anyway: clients pass this flag."`
}

// Help is what --help says beyond the flags.
func (lspCmd) Help() string {
	return `Runs a language server, which editors start: diagnostics while typing, hover, definitions and references, renaming,
outline, folding, colours, formatting, and quick fixes, for HLO text, StableHLO text and files of rules. docs/editors.md describes the setup of
VS Code and Neovim.`
}

func (c *lspCmd) Run(e *env) error {
	return lsp.Serve(context.Background(), e.stdin, e.stdout, lsp.Config{Rates: rates()})
}
