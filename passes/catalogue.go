package passes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo/pass"
)

// Catalogue is a set of passes and pipelines that text may name. The functions of this package use the standard one; [With] returns
// larger ones.
type Catalogue struct {
	family    func() pass.Family // made when it is first asked for
	pipelines []Pipeline
	orders    []pass.Order
}

// Pipeline is a named pipeline: text that may name passes, and pipelines before it.
type Pipeline struct{ Name, Doc, Text string }

// Standard is a named pipeline of the catalogue.
type Standard struct{ Doc, Text string }

// Builtin returns the standard catalogue.
func Builtin() *Catalogue { return standard }

// With returns the standard catalogue with more passes, pipelines and constraints. Their names must be new, the passes documented, and
// the pipelines must keep the constraints.
func With(families []pass.Family, more []Pipeline, orders []pass.Order) (*Catalogue, error) {
	names := standard.Names()
	take := func(name string) error {
		if slices.Contains(names, name) {
			return fmt.Errorf("passes: the catalogue has a pass or pipeline %s already", name)
		}
		names = append(names, name)
		return nil
	}
	for _, f := range families {
		for _, p := range f.All() {
			if err := take(p.Name); err != nil {
				return nil, err
			}
		}
		for _, alias := range slices.Sorted(maps.Keys(f.Aliases)) {
			if err := take(alias); err != nil {
				return nil, err
			}
		}
	}
	family := pass.Join(append([]pass.Family{standard.family()}, families...)...)
	c := &Catalogue{func() pass.Family { return family }, slices.Clone(standard.pipelines), slices.Concat(standard.orders, orders)}
	parsed := map[string]*pass.Pipeline{}
	for _, p := range more {
		if err := take(p.Name); err != nil {
			return nil, err
		}
		q, err := c.Parse(p.Text)
		if err != nil {
			return nil, fmt.Errorf("passes: pipeline %s: %w", p.Name, err)
		}
		parsed[p.Name] = q
		c.pipelines = append(c.pipelines, p)
	}
	return c, pass.Validate(c.All(), parsed, c.orders)
}

// All lists every pass, by name; those with options as they are without.
func (c *Catalogue) All() []*pass.Pass {
	all := c.family().All()
	slices.SortFunc(all, func(a, b *pass.Pass) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Parse reads pipeline text with the passes and pipelines of the catalogue.
func (c *Catalogue) Parse(text string) (*pass.Pipeline, error) { return pass.Parse(text, lookup{c}) }

// Check refuses a pattern of [pass.Matches] that is malformed or has a name that the catalogue does not know.
func (c *Catalogue) Check(pattern string) error { return pass.CheckPattern(pattern, lookup{c}) }

// Pipelines calls yield with the name of each pipeline and what it is.
func (c *Catalogue) Pipelines(yield func(name string, p Standard) bool) {
	for _, p := range c.pipelines {
		if !yield(p.Name, Standard{p.Doc, p.Text}) {
			return
		}
	}
}

// Orders lists the constraints between passes.
func (c *Catalogue) Orders() []pass.Order { return c.orders }

// Names lists everything that text may name.
func (c *Catalogue) Names() []string {
	names := pass.Combinators()
	for _, p := range c.All() {
		names = append(names, p.Name)
	}
	for _, p := range c.pipelines {
		names = append(names, p.Name)
	}
	for alias := range c.family().Aliases {
		names = append(names, alias)
	}
	return names
}

// lookup answers for a catalogue when text is read.
type lookup struct{ *Catalogue }

func (l lookup) Pass(name string, o pass.Options) (*pass.Pass, error) {
	return l.family().Pass(name, o)
}

func (l lookup) Pipeline(name string) *pass.Pipeline {
	for _, p := range l.pipelines {
		if p.Name == name {
			q, err := l.Parse(p.Text)
			if err != nil {
				panic(fmt.Sprintf("passes: pipeline %s: %v", name, err))
			}
			q.Name = name
			return q
		}
	}
	return nil
}
