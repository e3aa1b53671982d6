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
	return `A server of the Language Server Protocol, which editors start: diagnostics while typing, what stands behind a name, definitions and references, renaming,
outline, folding, colours, formatting, and fixes for what the diagnostics advise. For HLO text, StableHLO text and files of rules. docs/editors.md says how
to set up VS Code and Neovim.`
}

func (c *lspCmd) Run(e *env) error {
	return lsp.Serve(context.Background(), e.stdin, e.stdout, lsp.Config{Rates: rates()})
}
