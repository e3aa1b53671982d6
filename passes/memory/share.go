package memory

import (
	"hash/maphash"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// NewLiteralCanonicalizer makes the pass literal-canonicalizer.
func NewLiteralCanonicalizer(o pass.Options) (*pass.Pass, error) {
	const least = "min-size-bytes"
	if err := o.Known(least); err != nil {
		return nil, err
	}
	from, err := o.Int(least, 0)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "literal-canonicalizer", Options: o, Params: []pass.Param{{Name: least, Doc: "the least size of a literal to look at; 0"}}, About: []hlo.Opcode{hlo.OpConstant}, Lent: true,
		Doc: `keep the data of equal constants of a module once

The constants stay, and the text is the same; the module takes less memory. Equal are literals of one shape and layout with the same bits. The pool is the module: what was shared before, and what other
modules have, makes no difference to the result.`,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			pool, seed := map[uint64][]*hlo.Literal{}, maphash.MakeSeed()
			for id := range e.Computations() {
				c := e.Computation(id)
				for in := range pass.EachOf(c, hlo.OpConstant) {
					l := in.Literal()
					if l == nil || l.IsElided() || in.Shape().ByteSize() < int64(from) {
						continue
					}
					key := maphash.Bytes(seed, l.Bytes())
					first := firstEqual(pool[key], l)
					if first == nil {
						pool[key] = append(pool[key], l)
					} else if first != l && ctx.Spend("literal") {
						c.Instr(in.ID()).Share(in.Shape(), first)
						ctx.Count("literals", 1)
						ctx.Count("bytes", int64(len(l.Bytes())))
					}
				}
			}
			return e.Freeze(), nil
		}}, nil
}

func firstEqual(pool []*hlo.Literal, l *hlo.Literal) *hlo.Literal {
	for _, p := range pool {
		if p.Equal(l) {
			return p
		}
	}
	return nil
}

// ShapeCanonicalizer keeps each shape once.
var ShapeCanonicalizer = &pass.Pass{
	Name: "shape-canonicalizer",
	Lent: true,
	Doc: `keep equal shapes of a module once

The text is the same; the module takes less memory. Modules that were read from text have most of their shapes once already.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		pool, known := map[string]hlo.Shape{}, map[hlo.Shape]bool{}
		for id := range e.Computations() {
			c := e.Computation(id)
			for in := range pass.Each(c) {
				s := in.Shape()
				if known[s] {
					continue
				}
				first, ok := pool[s.String()]
				if !ok {
					pool[s.String()], known[s] = s, true
				} else if first.Equal(s) && ctx.Spend("shape") {
					c.Instr(in.ID()).Share(first, nil)
					ctx.Count("shapes", 1)
				}
			}
		}
		return e.Freeze(), nil
	},
}
