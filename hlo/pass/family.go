package pass

import (
	"fmt"
	"maps"
	"slices"
)

// Family is the passes of one package: its part of the catalogue.
type Family struct {
	// Plain are the passes without options.
	Plain []*Pass
	// Made are those with options, by name.
	Made map[string]func(Options) (*Pass, error)
	// Aliases are other names of passes: XLA's, where halo's own differ.
	Aliases map[string]string
}

// All lists the passes of the family; those with options as they are without.
func (f Family) All() []*Pass {
	all := slices.Clone(f.Plain)
	for _, name := range slices.Sorted(maps.Keys(f.Made)) {
		p, err := f.Made[name](nil)
		if err != nil {
			panic(fmt.Sprintf("pass: %s without options: %v", name, err))
		}
		all = append(all, p)
	}
	return all
}

// Pass makes the pass of a name or an alias; nil and no error when there is none.
func (f Family) Pass(name string, o Options) (*Pass, error) {
	if of, ok := f.Aliases[name]; ok {
		name = of
	}
	if make := f.Made[name]; make != nil {
		return make(o)
	}
	for _, p := range f.Plain {
		if p.Name == name {
			return p, o.Known()
		}
	}
	return nil, nil
}

// Join is one family of several. A name or an alias that two of them have is a broken promise.
func Join(families ...Family) Family {
	all := Family{Made: map[string]func(Options) (*Pass, error){}, Aliases: map[string]string{}}
	seen := map[string]bool{}
	add := func(name string) {
		if seen[name] {
			panic(fmt.Sprintf("pass: %s is in the catalogue twice", name))
		}
		seen[name] = true
	}
	for _, f := range families {
		for _, p := range f.Plain {
			add(p.Name)
			all.Plain = append(all.Plain, p)
		}
		for name, make := range f.Made {
			add(name)
			all.Made[name] = make
		}
		for alias, name := range f.Aliases {
			add(alias)
			all.Aliases[alias] = name
		}
	}
	return all
}
