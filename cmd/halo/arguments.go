package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/arrays"
	"github.com/gohalo/halo/internal/npz"
)

// arguments makes one literal for each parameter leaf, from the files that are given and the fill.
func (c *runCmd) arguments(params []hlo.Shape) ([]*hlo.Literal, error) {
	given, err := c.files()
	if err != nil {
		return nil, err
	}
	if c.Fill != "" {
		if err := fits(params); err != nil {
			return nil, err
		}
	}
	args := make([]*hlo.Literal, len(params))
	for i, s := range params {
		key := strconv.Itoa(i)
		if args[i], err = c.argument(given[key], i, s); err != nil {
			return nil, fmt.Errorf("parameter leaf %d, %v: %w", i, s.WithoutLayout(), err)
		}
		delete(given, key)
	}
	if len(given) > 0 {
		key := slices.Min(slices.Collect(maps.Keys(given)))
		return nil, fmt.Errorf("there is no parameter leaf %q: the program has %s", key, numbered(len(params)))
	}
	return args, nil
}

// files reads the arrays that the flags name, by key.
func (c *runCmd) files() (map[string]*npz.Array, error) {
	given := map[string]*npz.Array{}
	if c.Inputs != "" {
		all, err := arrays.ReadNPZ(c.Inputs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Inputs, unwrapPath(err))
		}
		given = all
	}
	for _, in := range c.Input {
		n, file, _ := strings.Cut(in, "=")
		a, err := arrays.ReadNPY(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, unwrapPath(err))
		}
		leaf, _ := strconv.ParseUint(n, 10, 32) // the flags have been checked
		given[strconv.FormatUint(leaf, 10)] = a
	}
	return given, nil
}

func (c *runCmd) argument(given *npz.Array, leaf int, s hlo.Shape) (*hlo.Literal, error) {
	switch {
	case given != nil:
		return arrays.Literal(given, s)
	case s.IsToken():
		return hlo.NewLiteral(s, nil)
	case c.Fill != "":
		return arrays.Fill(arrays.FillKind(c.Fill), c.Seed, leaf, s)
	case c.Inputs != "" || len(c.Input) > 0:
		return nil, errors.New("no value is given; --fill would make one")
	}
	return nil, errors.New("no value: give --inputs, --input or --fill")
}

// fits refuses parameters that the machine's memory cannot hold.
func fits(params []hlo.Shape) error {
	limit := available()
	left := limit
	for i, s := range params {
		if limit == 0 || !s.IsArray() || !s.IsStatic() {
			continue
		}
		if left -= min(s.ByteSize(), limit+1); left < 0 {
			return fmt.Errorf("parameter leaf %d, %v, needs more memory than there is", i, s.WithoutLayout())
		}
	}
	return nil
}

// numbered says how many leaves there are and what their keys are.
func numbered(n int) string {
	switch n {
	case 0:
		return "none"
	case 1:
		return "one, 0"
	}
	return fmt.Sprintf("%d, from 0 to %d", n, n-1)
}
