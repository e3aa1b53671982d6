package pass

import "github.com/gohalo/halo/hlo"

// opcodes is the set of opcodes that a module has, as it was at a moment of a run.
type opcodes struct {
	at  stamp // 0: not known yet
	has hlo.OpcodeSet
}

// concerns reports whether the module has something that the pass is about. A module of a few dozen instructions has the opcodes of few passes, and
// running the others costs more than asking.
func (r *Runner) concerns(p *Pass) bool {
	if len(p.About) == 0 || r.Thorough {
		return true
	}
	o := &r.opcodes
	if o.at != r.now.at {
		*o = opcodes{at: r.now.at}
		r.look(o.count)
	}
	for _, op := range p.About {
		if o.has.Has(op) {
			return true
		}
	}
	return false
}

func (o *opcodes) count(m hlo.Module) {
	for c := range m.Computations() {
		o.has = o.has.With(c.Opcodes())
	}
}
