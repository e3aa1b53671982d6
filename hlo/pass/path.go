package pass

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A pass that runs has a position: the names of the pipelines around it and its own, from the outermost, with numbers where names are not
// enough. O2/simplify#2/algsimp@3 is the third execution of algsimp in the second simplify of O2; the first of several carries no number.

// place is a step of a pipeline where it stands.
type place struct {
	in    *places
	path  string // without the number of the execution, once the places have names
	pass  *Pass  // or
	group *Pipeline
	steps []place // of group
	runs  int     // of pass, so far
	known int     // the place in Runner.records of what is known of pass, and one; 0: it has not run
}

// places are those of a whole pipeline. They get their paths when the first is asked for: mostly nobody does.
type places struct {
	top   place
	named bool
}

func placesOf(p *Pipeline) *place {
	all := &places{}
	all.fill(&all.top, p)
	return &all.top
}

// fill makes g the place of a pipeline.
func (all *places) fill(g *place, p *Pipeline) {
	g.in, g.group, g.steps = all, p, make([]place, len(p.Steps))
	for i, s := range p.Steps {
		if s.Pipeline != nil {
			all.fill(&g.steps[i], s.Pipeline)
		} else {
			g.steps[i].in, g.steps[i].pass = all, s.Pass
		}
	}
}

// position is the path without the number of the execution.
func (p *place) position() string {
	if !p.in.named {
		p.in.named = true
		p.in.top.number("", map[string]int{})
	}
	return p.path
}

// number numbers the steps of a pipeline that lies at a path. taken counts the steps of each path, so that groups without a name share
// the numbers of what they are in.
func (p *place) number(at string, taken map[string]int) {
	switch {
	case p.pass != nil:
		at = numbered(join(at, p.pass.Name), taken)
	case p.group.Name != "":
		at = numbered(join(at, p.group.Name), taken)
	}
	p.path = at
	for i := range p.steps {
		p.steps[i].number(at, taken)
	}
}

func numbered(at string, taken map[string]int) string {
	taken[at]++
	if n := taken[at]; n > 1 {
		return at + "#" + strconv.Itoa(n)
	}
	return at
}

// execution is one of a pass at its place.
type execution struct {
	at  *place
	run int
}

func (p *place) execution() execution {
	p.runs++
	return execution{p, p.runs}
}

func (e execution) path() string {
	if e.run > 1 {
		return e.at.position() + "@" + strconv.Itoa(e.run)
	}
	return e.at.position()
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// PlainPath is a path without numbers.
func PlainPath(at string) string {
	elements := strings.Split(at, "/")
	for i, e := range elements {
		elements[i] = readElement(e).name
	}
	return strings.Join(elements, "/")
}

// element is a part of a path, or of a pattern, in which 0 stands for any number.
type element struct {
	name            string
	occurrence, run int
}

func readElement(s string) (e element) {
	s, run, _ := strings.Cut(s, "@")
	s, occurrence, _ := strings.Cut(s, "#")
	e.name = s
	e.occurrence, _ = strconv.Atoi(occurrence)
	e.run, _ = strconv.Atoi(run)
	return e
}

// Matches reports whether a pattern selects the pass at a path. A pattern is a name, which may be a glob, or several with slashes between them;
// #N and @N behind a name ask for that occurrence and that execution. A pattern with slashes begins at the outermost pipeline, and one
// that ends at a pipeline selects all that is in it. A single name selects wherever it stands in the path.
func Matches(pattern, at string) bool {
	if pattern == "" {
		return false
	}
	want, have := strings.Split(pattern, "/"), strings.Split(at, "/")
	if len(want) == 1 {
		return slices.ContainsFunc(have, func(e string) bool { return matchesElement(want[0], e) })
	}
	if len(want) > len(have) {
		return false
	}
	for i, w := range want {
		if !matchesElement(w, have[i]) {
			return false
		}
	}
	return true
}

func matchesElement(pattern, at string) bool {
	w, h := readElement(strings.ReplaceAll(pattern, "_", "-")), readElement(at)
	ok, _ := path.Match(w.name, h.name)
	return ok && (w.occurrence == 0 || w.occurrence == max(h.occurrence, 1)) && (w.run == 0 || w.run == max(h.run, 1))
}

// CheckPattern refuses a pattern that is malformed, or has a name that the catalogue does not know: a misspelt pass would else run after
// all.
func CheckPattern(pattern string, c Catalogue) error {
	for _, s := range strings.Split(pattern, "/") {
		name := strings.ReplaceAll(readElement(s).name, "_", "-")
		if _, err := path.Match(name, ""); err != nil {
			return fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if numbers := s[len(readElement(s).name):]; numbers != "" && !wellNumbered(numbers) {
			return fmt.Errorf("pattern %q: want numbers as in algsimp#2@3", pattern)
		}
		if name != "" && !strings.ContainsAny(name, "*?[") && !slices.Contains(c.Names(), name) {
			_, err := Parse(name, c)
			return err
		}
	}
	return nil
}

// wellNumbered reads what stands behind a name: #N, @N or #N@N.
func wellNumbered(s string) bool {
	occurrence, run, both := strings.Cut(s, "@")
	number := func(s string) bool { n, err := strconv.Atoi(s); return err == nil && n > 0 }
	return (occurrence == "" || occurrence[0] == '#' && number(occurrence[1:])) && (!both || number(run))
}
