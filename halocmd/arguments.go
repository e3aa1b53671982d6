package halocmd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// arguments makes, for each device, one literal for each parameter leaf, from the files that are given and the fill. What is given
// without a device, as 0 and not as d0/0, is for all of them, and so is what is filled in. A key may also be the name of a leaf: p['b'].
func (c *runCmd) arguments(params []halo.Value, g grid) ([][]*hlo.Literal, error) {
	given, err := c.files()
	if err != nil {
		return nil, err
	}
	if given, err = c.passed(given, len(params)); err != nil {
		return nil, err
	}
	byName, err := c.byName(params, given)
	if err != nil {
		return nil, err
	}
	if c.Fill != "" {
		if err := fits(params); err != nil {
			return nil, err
		}
	}
	filler := &arrays.Filler{Kind: arrays.FillKind(c.Fill), Seed: c.Seed}
	for _, v := range params {
		filler.Expect(v.Shape)
	}
	used := make(map[string]bool)
	common := make([]*hlo.Literal, len(params)) // for devices without arrays of their own
	args := make([][]*hlo.Literal, g.devices())
	from, to := c.held(g)
	for d := range args {
		if d < from || d >= to {
			for i := range params {
				used[fmt.Sprintf("d%d/%d", d, i)] = true
			}
			continue
		}
		args[d] = make([]*hlo.Literal, len(params))
		for i, v := range params {
			s := v.Shape
			own := fmt.Sprintf("d%d/%d", d, i)
			a := given[own]
			if used[own] = true; a == nil && common[i] != nil {
				args[d][i] = common[i]
				continue
			}
			var l *hlo.Literal
			if a == nil {
				own = strconv.Itoa(i)
				a, used[own] = given[own], true
			}
			if a == nil {
				a, used[v.Name] = given[v.Name], true
			}
			if a == nil && byName[i].array != nil {
				a, used[byName[i].key] = byName[i].array, true
			}
			if l, err = c.argument(a, filler, i, s); err != nil {
				if a == nil {
					err = fmt.Errorf("%w%s", err, strangers(given, params, byName))
				}
				return nil, fmt.Errorf("%s%s, %v: %w", g.where(d), c.leaf(i), s.WithoutLayout(), err)
			}
			if own == strconv.Itoa(i) { // by number or by name
				common[i] = l
			}
			args[d][i] = l
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if used[key] {
			continue
		}
		if isKey(key) && strings.HasPrefix(key, "d") {
			return nil, fmt.Errorf("there is no parameter leaf %q: %s, and the program has %s%s", key, count(g.devices(), "device runs", "devices run"), numbered(len(params)), moreDevices(key, g))
		}
		return nil, fmt.Errorf("there is no parameter leaf %q: the program has %s", key, numbered(len(params)))
	}
	return args, nil
}

// moreDevices says how a device runs for which there is an input. A program without collectives runs on one, whatever its header says.
func moreDevices(key string, g grid) string {
	number, _, _ := strings.Cut(key[1:], "/")
	if d, err := strconv.Atoi(number); err != nil || d < g.devices() {
		return ""
	}
	return "\n  --partitions or --replicas runs it on more devices"
}

// strangers names what is given for no parameter, in a line of its own: where one lacks a value, the name of another may be wrong.
func strangers(given map[string]*npz.Array, params []halo.Value, byName []namedArray) string {
	var names []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		n, err := strconv.Atoi(key)
		known := err == nil && n < len(params) || isKey(key) && strings.HasPrefix(key, "d") ||
			slices.ContainsFunc(params, func(v halo.Value) bool { return v.Name == key }) ||
			slices.ContainsFunc(byName, func(x namedArray) bool { return x.key == key })
		if !known {
			names = append(names, strconv.Quote(key))
		}
	}
	const enough = 5
	switch n := len(names); {
	case n == 0:
		return ""
	case n > enough:
		names = append(names[:enough], fmt.Sprintf("and %d more", n-enough))
	}
	return "\n  no parameter is called " + strings.Join(names, ", ") + ": keys are 0, 1, ... or the names of parameters"
}

// held is the range of the devices that this process runs.
func (c *runCmd) held(g grid) (from, to int) {
	if c.job == nil || g.devices() == 1 { // arrays of one device are whole: they are split later
		return 0, g.devices()
	}
	return c.job.Devices(g.devices())
}

func count(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// readAhead has the files read while programs are read and compiled. What goes wrong, a panic too, comes to whom asks for the arrays.
func (c *runCmd) readAhead() {
	if c.Inputs == "" && len(c.Input) == 0 {
		return
	}
	c.given = sync.OnceValues(c.readFiles)
	go func() {
		defer func() { _ = recover() }()
		_, _ = c.given()
	}()
}

// files is the arrays that the flags name, by key.
func (c *runCmd) files() (map[string]*npz.Array, error) {
	if c.given == nil {
		c.given = sync.OnceValues(c.readFiles)
	}
	return c.given()
}

func (c *runCmd) readFiles() (map[string]*npz.Array, error) {
	given := map[string]*npz.Array{}
	if c.Inputs != "" {
		all, err := arrays.ReadFile(c.Inputs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Inputs, unwrapPath(err))
		}
		given = all
	}
	for _, in := range c.Input {
		key, file, _ := strings.Cut(in, "=")
		a, err := arrays.ReadOne(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, unwrapPath(err))
		}
		given[key] = a
	}
	return given, nil
}

// givenShapes are those of the arrays that are given for parameters of all devices, by their numbers; nil when there are none.
func (c *runCmd) givenShapes() ([]hlo.Shape, error) {
	given, err := c.files()
	if err != nil {
		return nil, err
	}
	switch {
	case c.exported != nil:
		return c.exportedShapes(given)
	case c.saved != nil:
		return c.savedShapes(given)
	}
	var shapes []hlo.Shape
	for i := 0; ; i++ {
		a := given[strconv.Itoa(i)]
		if a == nil {
			return shapes, nil
		}
		shapes = append(shapes, hlo.MakeShape(hlo.U8, a.Shape...))
	}
}

func (c *runCmd) argument(given *npz.Array, filler *arrays.Filler, leaf int, s hlo.Shape) (*hlo.Literal, error) {
	switch {
	case given != nil:
		return arrays.Argument(given, s)
	case s.IsToken():
		return hlo.NewLiteral(s, nil)
	case c.Fill != "":
		if l := c.filled(leaf, s); l != nil {
			return l, nil
		}
		return filler.Fill(leaf, s)
	case c.Inputs != "" || len(c.Input) > 0 || len(c.Weights) > 0:
		return nil, errors.New("no value is given; --fill would make one")
	}
	return nil, errors.New("no value: give --inputs, --input, --weights or --fill")
}

// fillAhead begins to fill the parameters of a module that is about to be compiled, if nothing else gives them values. Times that are reported are of one thing at a time.
func (c *runCmd) fillAhead(m halo.Module) {
	if c.Fill == "" || c.Bench > 0 || c.Inputs != "" || len(c.Input) > 0 || len(c.Weights) > 0 || c.saved != nil || c.job != nil {
		return
	}
	params := halo.SignatureOf(m.HLO()).Parameters
	if fits(params) != nil {
		return // the error is due when the program is compiled
	}
	shapes := make([]hlo.Shape, len(params))
	for i, v := range params {
		shapes[i] = v.Shape
	}
	c.ahead = (&arrays.Filler{Kind: arrays.FillKind(c.Fill), Seed: c.Seed}).Ahead(shapes)
}

// filled is the literal of a leaf that has been filled ahead, or nil.
func (c *runCmd) filled(leaf int, s hlo.Shape) *hlo.Literal {
	if c.ahead == nil {
		return nil
	}
	if l := c.ahead.Literals()[leaf]; l != nil && l.Shape().Equal(s) {
		return l
	}
	return nil
}

// fewBytes are always there: asking how much is left takes longer than filling them.
const fewBytes = 1 << 20

// fits refuses parameters that the machine's memory cannot hold.
func fits(params []halo.Value) error {
	few := int64(fewBytes)
	for _, v := range params {
		if s := v.Shape; s.IsArray() && s.IsStatic() {
			few -= min(s.ByteSize(), fewBytes+1)
		}
	}
	if few >= 0 {
		return nil
	}
	limit := available()
	left := limit
	for i, v := range params {
		s := v.Shape
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
