package halocmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/spelling"
	"github.com/gohalo/halo/runtime"
)

// updateFlags let one see the asynchronous updates of a run, and cancel chains there.
type updateFlags struct {
	Updates  bool     `help:"Show each asynchronous update as it is executed: how many operands its chain has, and how far it has got."`
	CancelAt []string `help:"Cancel the chains of these asynchronous updates when they are executed. Work that does not depend on a chain goes on, and with --print its results are shown." placeholder:"UPDATE"`
}

// errCancelAt is why a chain is cancelled.
var errCancelAt = errors.New("--cancel-at names this update")

// known refuses names that no update of a module has, except of a BEF file, of which there is no text.
func (c *updateFlags) known(name string, m hlo.Module) error {
	if len(c.CancelAt) == 0 || m.IsZero() {
		return nil
	}
	var all []string
	for comp := range m.Computations() {
		for in := range comp.Instructions() {
			if in.Opcode() == hlo.OpAsyncUpdate {
				all = append(all, in.Name())
			}
		}
	}
	for _, at := range c.CancelAt {
		if at = strings.TrimPrefix(at, "%"); !slices.Contains(all, at) {
			return fmt.Errorf("%s: error: --cancel-at=%s: no asynchronous update is called so%s", name, at, closeTo(at, all))
		}
	}
	return nil
}

// closeTo proposes the name that a word comes close to, or the only one.
func closeTo(word string, names []string) string {
	near := spelling.Nearest(word, names)
	switch {
	case near != "":
		return ", but %" + near + " is"
	case len(names) == 1:
		return "; there is %" + names[0]
	}
	return ""
}

// watch has an observer see updates if the flags ask for it.
func (c *updateFlags) watch(out io.Writer, o *halo.Observer) {
	if !c.Updates && len(c.CancelAt) == 0 {
		return
	}
	var mu sync.Mutex
	o.Update = func(in hlo.Instruction, u runtime.Update) error {
		name := ""
		if !in.IsZero() {
			name = in.Name()
		}
		if c.Updates {
			mu.Lock()
			defer mu.Unlock()
			if _, err := fmt.Fprintln(out, describeUpdate(name, u)); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(c.CancelAt, func(s string) bool { return strings.TrimPrefix(s, "%") == name }) {
			return errCancelAt
		}
		return nil
	}
}

func describeUpdate(name string, u runtime.Update) string {
	s := fmt.Sprintf("%%%s: %d of %d operands", name, u.Bound, u.Operands)
	switch {
	case u.Cancelled:
		return s + ", cancelled"
	case u.Ended:
		return s + ", all done"
	case u.Parts < 0:
		s += fmt.Sprintf(", %s done", count(int(u.Done), "part", "parts"))
	default:
		s += fmt.Sprintf(", %d of %s done", u.Done, count(int(u.Parts), "part", "parts"))
	}
	if u.Blocks > 0 {
		s += fmt.Sprintf(", %d of %s of the last kernel", u.BlocksDone, count(int(u.Blocks), "block", "blocks"))
	}
	return s
}
