package lower

import (
	"crypto/sha256"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/runtime"
)

// constants collects the data of the constants section, equal data once.
type constants struct {
	data []byte
	seen map[[sha256.Size]byte]int64
}

// add returns the offset of data in the section.
func (c *constants) add(data []byte) int64 {
	key := sha256.Sum256(data)
	if at, ok := c.seen[key]; ok {
		return at
	}
	if c.seen == nil {
		c.seen = make(map[[sha256.Size]byte]int64)
	}
	for len(c.data)%runtime.ConstantAlign != 0 {
		c.data = append(c.data, 0)
	}
	at := int64(len(c.data))
	c.data = append(c.data, data...)
	c.seen[key] = at
	return at
}

// smallConstant is the size up to which a constant may as well stay in the module.
const smallConstant = 64

// withoutConstants is the program whose functions' constants are elided: their values are in the constants section. Computations that
// kernels apply keep theirs.
func (l *lowering) withoutConstants() *proto.Program {
	applied := make(map[hlo.CompID]bool)
	functions := make(map[hlo.CompID]bool)
	for _, f := range l.order {
		functions[f.comp.ID()] = true
		for i := range f.ops {
			if in := f.ops[i].in; !in.IsZero() {
				for id := range in.Callees() {
					l.apply(id, applied)
				}
			}
		}
	}
	var e *hlo.Editor
	for id := range functions {
		if applied[id] {
			continue
		}
		for in := range l.m.MustComputation(id).Instructions() {
			if lit := in.Literal(); lit != nil && in.Shape().IsArray() && in.Shape().ByteSize() > smallConstant {
				if e == nil {
					e = l.m.Edit()
				}
				e.Computation(id).Instr(in.ID()).SetAttrs(&hlo.ConstantAttrs{Literal: hlo.NewElidedLiteral(in.Shape())})
			}
		}
	}
	if e == nil {
		return l.program
	}
	return proto.NewProgram(e.Freeze())
}

// apply notes a computation and all that it calls.
func (l *lowering) apply(id hlo.CompID, applied map[hlo.CompID]bool) {
	if applied[id] {
		return
	}
	applied[id] = true
	for in := range l.m.MustComputation(id).Instructions() {
		for callee := range in.Callees() {
			l.apply(callee, applied)
		}
	}
}
