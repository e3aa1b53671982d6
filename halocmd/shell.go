package halocmd

import (
	"fmt"

	"github.com/gohalo/halo"
)

// completionCmd writes scripts for shells.
type completionCmd struct {
	Shell string `arg:"" name:"shell" help:"bash, zsh or fish."`
}

// Help is what --help says beyond the flags.
func (completionCmd) Help() string {
	return `The script has a shell complete subcommands, flags and values.

  halo completion bash > ~/.local/share/bash-completion/completions/halo
  halo completion zsh > "${fpath[1]}/_halo"
  halo completion fish > ~/.config/fish/completions/halo.fish`
}

func (c *completionCmd) Run(e *env) error { return e.line.Completion(e.stdout, c.Shell) }

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
