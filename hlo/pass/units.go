package pass

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Units are the modules beside the one that a pass works on: what is compiled on its own, and put together again. Whoever runs passes says where they are;
// a pass reads and writes no files.
type Units interface {
	// Unit is the module of a name; false if there is none.
	Unit(name string) (m hlo.Module, ok bool, err error)
	// Add keeps a module under a name, in the place of one of that name.
	Add(name string, m hlo.Module) error
}

// Units are those of the run. Where it has none, none is found, and adding one is an error.
func (c *Context) Units() Units {
	if c.runner.Units == nil {
		return noUnits{}
	}
	return c.runner.Units
}

type noUnits struct{}

func (noUnits) Unit(string) (m hlo.Module, ok bool, err error) { return m, false, nil }

func (noUnits) Add(name string, _ hlo.Module) error {
	return fmt.Errorf("module %s has no place to go to: --units=DIR gives it one", name)
}
