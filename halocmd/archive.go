package halocmd

import (
	"fmt"
	"strconv"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gohalo/halo/hlo/pass"
)

// archiveCmd reads archives of the versions that a module went through.
type archiveCmd struct {
	Files []string `arg:"" name:"file" help:"Archives: module_0000.name.halo.zip, as halo opt --dump-layout=archive leaves them."`
	At    string   `help:"Print this version of the module, by its number or its pass (O2/simplify#2/dce)." placeholder:"N|PASS"`
	Diff  string   `help:"Print the changes of this version as a text diff." placeholder:"N|PASS"`
	JSON  bool     `name:"json" help:"One JSON object for each file."`
}

// Help is what --help says beyond the flags.
func (archiveCmd) Help() string {
	return `Without flags the versions are listed: number, instructions, and the pass that made each.

  halo opt -O2 --dump-to=d --dump-layout=archive --dump-pass=.* model.hlo
  halo archive d/module_0000.model.halo.zip
  halo archive d/module_0000.model.halo.zip --diff=3
  halo archive d/module_0000.model.halo.zip --at=O2/simplify/dce | halo run --fill=random -`
}

func (c *archiveCmd) Run(e *env) error {
	if c.At != "" && c.Diff != "" {
		return usageError{fmt.Errorf("--at and --diff exclude each other")}
	}
	e.archives = true
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		a, err := openArchive(in.data)
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		text := ""
		switch {
		case c.At != "":
			_, text, err = a.find(c.At)
		case c.Diff != "":
			text, err = a.difference(c.Diff)
		default:
			r.add("module", a.Module)
			r.add("versions", a.Versions)
			if !c.JSON {
				for i, v := range a.Versions {
					fmt.Fprintf(e.stdout, "%5d  %7d instructions  %s\n", i, v.Instructions, v.place())
				}
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		if c.JSON {
			r.add("text", text)
			return nil
		}
		_, err = fmt.Fprint(e.stdout, text)
		return err
	})
}

func (v archiveVersion) place() string {
	if v.Path != "" {
		return v.Path
	}
	return v.Name
}

// find returns the number of a version, and its text.
func (a *archiveReader) find(at string) (int, string, error) {
	n, err := strconv.Atoi(at)
	if err != nil {
		n = -1
		for i, v := range a.Versions {
			if at == v.Name || pass.Matches(at, v.Path) {
				n = i
				break
			}
		}
	}
	if n < 0 || n >= len(a.Versions) {
		return 0, "", fmt.Errorf("there is no version %s: there are 0 to %d", at, len(a.Versions)-1)
	}
	text, err := a.text(a.Versions[n])
	return n, text, err
}

func (a *archiveReader) difference(at string) (string, error) {
	n, after, err := a.find(at)
	if err != nil || n == 0 {
		return "", err
	}
	before, err := a.text(a.Versions[n-1])
	return string(diff.Diff(a.Versions[n-1].place(), []byte(before), a.Versions[n].place(), []byte(after))), err
}
