package pass

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Order is a constraint: in a pipeline that has both passes, Before runs first.
type Order struct{ Before, After, Because string }

var passName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`) })

// forms counts the functions that would run the pass.
func (p *Pass) forms() (n int) {
	for _, has := range []bool{p.Run != nil, p.Local != nil, p.Own != nil} {
		if has {
			n++
		}
	}
	return n
}

// Validate checks a catalogue: names are kebab-case and unique, every pass has a documentation whose first line is a title and something to
// run, the constraints name passes that exist and say why, and every pipeline keeps them. A test calls it; it returns all mistakes.
func Validate(all []*Pass, pipelines map[string]*Pipeline, orders []Order) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	names := map[string]bool{}
	for _, p := range all {
		title, _, _ := strings.Cut(p.Doc, "\n")
		switch {
		case !passName().MatchString(p.Name):
			fail("pass %q: a name is kebab-case", p.Name)
		case names[p.Name]:
			fail("pass %s: there are two", p.Name)
		case title == "" || strings.HasSuffix(title, "."):
			fail("pass %s: the documentation begins with a title, got %q", p.Name, title)
		case p.forms() == 0:
			fail("pass %s has nothing to run", p.Name)
		case p.forms() > 1:
			fail("pass %s has several of the forms Run, Local and Own", p.Name)
		}
		names[p.Name] = true
	}
	for _, o := range orders {
		if !names[o.Before] || !names[o.After] || o.Because == "" {
			fail("order %s before %s: both must be passes, and the reason be given", o.Before, o.After)
		}
	}
	for name, p := range pipelines {
		first := map[string]int{}
		for i, ps := range p.Passes() {
			if _, seen := first[ps.Name]; !seen {
				first[ps.Name] = i
			}
			if !names[ps.Name] {
				fail("pipeline %s: pass %s is not in the catalogue", name, ps.Name)
			}
		}
		for _, o := range orders {
			before, a := first[o.Before]
			after, b := first[o.After]
			if a && b && before > after {
				fail("pipeline %s: %s must run before %s, because %s", name, o.Before, o.After, o.Because)
			}
		}
	}
	return errors.Join(errs...)
}
