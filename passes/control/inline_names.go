package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// maxOpName bounds the names that calls in calls would make.
const maxOpName = 1000

// prefixing puts the op_name of a call in front of the op_names of what it runs.
type prefixing struct {
	prefix  string
	was, is string // the name before, and what it became: neighbours often come from one op
}

// put is the common attributes with the prefix in front of the op_name.
func (p *prefixing) put(c *hlo.Common) *hlo.Common {
	own := &struct {
		common   hlo.Common
		metadata hlo.Metadata
	}{}
	if c != nil {
		own.common = *c
	}
	if own.common.Metadata != nil {
		own.metadata = *own.common.Metadata
	}
	name := own.metadata.OpName
	switch {
	case len(p.prefix)+len(name) >= maxOpName:
		return c
	case name == "":
		name = p.prefix
	case name == p.was:
		name = p.is
	default:
		p.was, p.is = name, p.prefix+"/"+name
		name = p.is
	}
	own.metadata.OpName = name
	own.common.Metadata = &own.metadata
	return &own.common
}

// putInside puts it in front of the names in a computation, and in those that it alone runs.
func (p *prefixing) putInside(e *hlo.Editor, id hlo.CompID) {
	c := e.Computation(id)
	var inside []hlo.CompID
	for in := range e.View(id).Instructions() {
		if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) {
			inside = append(inside, slices.Collect(in.Callees())...)
		}
	}
	for _, in := range instructionIDs(e.View(id)) {
		c.Instr(in).SetCommon(p.put(c.At(in).Common()))
	}
	for _, callee := range inside {
		p.putInside(e, callee)
	}
}
