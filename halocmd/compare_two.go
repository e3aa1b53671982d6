package halocmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/diverge"
	"github.com/gohalo/halo/printer"
)

// fewResults is how many results are shown one by one even if they agree.
const fewResults = 4

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// abridged4 lists a few names.
func abridged4(names []string) []string {
	const most = 4
	if len(names) > most {
		return append(names[:most:most], "...")
	}
	return names
}

// two compares two programs on the same inputs, which are made for the first.
func (c *compareCmd) two(ctx context.Context, e *env, ways [2]way) error {
	var modules []hlo.Module
	read := func(in *input, _ *record) error {
		m, err := e.loadModule(in, moduleOptions{profile: c.Profile, fill: true})
		if err == nil {
			if len(modules) == 0 {
				c.saved = in.saved
			}
			modules = append(modules, m)
		}
		return err
	}
	if err := e.each(c.Files[:1], false, read); err != nil {
		return err
	}
	return e.each(c.Files[1:], c.JSON, func(in *input, r *record) error {
		if err := read(in, r); err != nil {
			return err
		}
		args, err := c.arguments(modules[0])
		if err != nil {
			return fmt.Errorf("%s: error: %w", c.Files[0], err)
		}
		var sides [2]diverge.Side
		for i := range ways {
			if sides[i], err = ways[i].side(ctx, modules[i]); err != nil {
				return fmt.Errorf("%s: error: %w", c.Files[i], err)
			}
			ways[i].file = c.Files[i]
		}
		r.add("against", c.Files[0])
		return c.find(ctx, e, in.name, r, ways, sides, args, true)
	})
}

// save writes the instruction that departs as a program, and the operands that a has for it beside the program.
func (c *compareCmd) save(e *env, m hlo.Module, d *diverge.Departure) error {
	program, err := extract(m, d.Instruction, 0)
	if err != nil {
		return err
	}
	if err := create(c.Save, func(w io.Writer) error { return printer.Fprint(w, program, printer.Config{LargeConstants: true}) }); err != nil {
		return err
	}
	if d.Operands == nil {
		fmt.Fprintf(e.stderr, "%s: note: the operands of %s are not written: the first program does not compute them\n", c.Save, d.Instruction.Name())
		return nil
	}
	values := map[string]*hlo.Literal{}
	for i, o := range d.Operands {
		values[d.Instruction.OperandInstr(i).Name()] = o
	}
	var leaves []*hlo.Literal
	for i := range program.Entry().NumParameters() {
		l := values[program.Entry().Parameter(i).Name()]
		if l == nil {
			return fmt.Errorf("there is no value for operand %s", program.Entry().Parameter(i).Name())
		}
		leaves = append(leaves, l.Leaves()...)
	}
	path := strings.TrimSuffix(c.Save, ".hlo") + ".npz"
	return create(path, func(w io.Writer) error { return arrays.WriteNPZ(w, named(grid{1, 1}, [][]*hlo.Literal{leaves})) })
}
