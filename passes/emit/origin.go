package emit

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Narrow gives an instruction the tuple shape of the parts that are live, and the origins of these.
func Narrow(in hlo.InstrEdit, s hlo.Shape, live []bool) {
	common := in.View().Common()
	in.SetShape(s).SetCommon(KeptOrigin(common, live))
}

// Widen gives an instruction a tuple shape of more parts at the end, whose origins are not known.
func Widen(in hlo.InstrEdit, s hlo.Shape) {
	common, more := in.View().Common(), s.NumElems()-in.View().Shape().NumElems()
	in.SetShape(s).SetCommon(WiderOrigin(common, make([]*hlo.Origin, more)))
}

// KeptOrigin is the attributes of a tuple with the origins of the parts that are live.
func KeptOrigin(c *hlo.Common, live []bool) *hlo.Common {
	if !hasOrigins(c) || len(c.Origin.Tree.Elements) != len(live) {
		return c
	}
	var elements []*hlo.OriginNode
	for i, l := range live {
		if l {
			elements = append(elements, c.Origin.Tree.Elements[i])
		}
	}
	return withOrigins(c, elements)
}

// WiderOrigin is the attributes of a tuple with the origins of more parts at the end; of a part without one nothing is known. A tuple
// without origins stays without.
func WiderOrigin(c *hlo.Common, more []*hlo.Origin) *hlo.Common {
	if !hasOrigins(c) {
		return c
	}
	elements := slices.Clone(c.Origin.Tree.Elements)
	for _, o := range more {
		if o == nil || o.Tree == nil || o.Tree.IsTuple {
			elements = append(elements, &hlo.OriginNode{})
		} else {
			elements = append(elements, o.Tree)
		}
	}
	return withOrigins(c, elements)
}

// TupledOrigin is the attributes of a value for a tuple of it alone.
func TupledOrigin(c *hlo.Common) *hlo.Common {
	if c == nil || c.Origin == nil || c.Origin.Tree == nil {
		return c
	}
	origin, own := *c.Origin, *c
	origin.Tree = &hlo.OriginNode{IsTuple: true, Elements: []*hlo.OriginNode{c.Origin.Tree}}
	own.Origin = &origin
	return &own
}

// OnlyOrigin is the attributes of a tuple of one part for that part itself.
func OnlyOrigin(c *hlo.Common) *hlo.Common {
	if !hasOrigins(c) || len(c.Origin.Tree.Elements) != 1 {
		return c
	}
	origin, own := *c.Origin, *c
	origin.Tree = c.Origin.Tree.Elements[0]
	own.Origin = &origin
	return &own
}

// hasOrigins reports whether there is an origin of each part.
func hasOrigins(c *hlo.Common) bool {
	return c != nil && c.Origin != nil && c.Origin.Tree != nil && c.Origin.Tree.IsTuple
}

func withOrigins(c *hlo.Common, elements []*hlo.OriginNode) *hlo.Common {
	tree, origin, own := *c.Origin.Tree, *c.Origin, *c
	tree.Elements = elements
	origin.Tree = &tree
	own.Origin = &origin
	return &own
}
