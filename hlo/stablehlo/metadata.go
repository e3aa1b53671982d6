package stablehlo

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// commonOf is what all instructions of an operation have: metadata from its location, sharding, frontend attributes, accuracy.
func (c *converter) commonOf(op *mlir.Op) *hlo.Common {
	var out hlo.Common
	any := false
	for i := range op.Attrs {
		switch a := &op.Attrs[i]; a.Name {
		case "mhlo.sharding":
			if s := stringOf(a.Value); s != "" {
				out.Sharding, any = c.sharding(op, s), true
			}
		case "sdy.sharding":
			if s := c.valueSharding(op, a.Value); s != nil {
				out.Sharding, any = s, true
			}
		case "mhlo.frontend_attributes":
			if d, ok := a.Value.(mlir.Dict); ok && len(d) > 0 {
				out.FrontendAttributes, any = frontend(mlir.Attrs(d)), true
			}
		case "result_accuracy":
			if r := accuracy(a.Value); r != nil {
				out.ResultAccuracy, any = r, true
			}
		}
	}
	if m := c.metadata(op.Loc); m != nil {
		out.Metadata, any = m, true
	}
	if !any {
		return nil
	}
	return &out
}

// argumentCommon is that of a parameter.
func (c *converter) argumentCommon(op *mlir.Op, attrs mlir.Attrs, loc *mlir.Location) *hlo.Common {
	out := c.commonOf(&mlir.Op{Name: op.Name, Attrs: attrs, Loc: loc, Pos: op.Pos})
	if list, ok := mlir.Ints(attrs.Get("mhlo.parameter_replication")); ok && len(list) > 0 {
		if out == nil {
			out = new(hlo.Common)
		}
		for _, v := range list {
			out.ParameterReplication = append(out.ParameterReplication, v != 0)
		}
	}
	if text, ok := attrs.Get("sdy.sharding").(mlir.Text); ok && out != nil {
		out.FrontendAttributes = withFrontend(out.FrontendAttributes, "xla.sdy.sharding", string(text))
	}
	return out
}

// frontend makes frontend attributes of a dictionary.
func frontend(d mlir.Attrs) *hlo.FrontendAttributes {
	f := new(hlo.FrontendAttributes)
	for _, a := range d {
		f = withFrontend(f, a.Name, frontendValue(a.Value))
	}
	return f
}

func frontendValue(a mlir.Attr) string {
	if s, ok := a.(mlir.String); ok {
		return string(s)
	}
	return string(mlir.AppendAttr(nil, a))
}

// withFrontend is f with a pair more.
func withFrontend(f *hlo.FrontendAttributes, key, value string) *hlo.FrontendAttributes {
	var list []hlo.FrontendAttribute
	if f != nil {
		list = slices.DeleteFunc(slices.Clone(f.Entries), func(e hlo.FrontendAttribute) bool { return e.Key == key })
	}
	list = append(list, hlo.FrontendAttribute{Key: key, Value: value})
	slices.SortFunc(list, func(a, b hlo.FrontendAttribute) int { return cmp.Compare(a.Key, b.Key) })
	return &hlo.FrontendAttributes{Entries: list}
}

// accuracy is the result accuracy that an operation asks for, nil for the default.
func accuracy(a mlir.Attr) *hlo.ResultAccuracy {
	s, ok := a.(mlir.Struct)
	if !ok {
		return nil
	}
	mode, _ := s.Fields.Get("mode").(mlir.Enum)
	switch mode.Value {
	case "HIGHEST":
		return &hlo.ResultAccuracy{Highest: true}
	case "TOLERANCE":
		r := new(hlo.ResultAccuracy)
		if f, ok := s.Fields.Get("atol").(mlir.Float); ok {
			r.ATol = f.Float64()
		}
		if f, ok := s.Fields.Get("rtol").(mlir.Float); ok {
			r.RTol = f.Float64()
		}
		if n, ok := s.Fields.Get("ulps").(mlir.Int); ok {
			r.ULPs = n.Value
		}
		return r
	}
	return nil
}

// metadata is what a location says.
func (c *converter) metadata(l *mlir.Location) *hlo.Metadata {
	if l == nil {
		return nil
	}
	var m hlo.Metadata
	m.OpName = l.OpName()
	if i := strings.LastIndexByte(m.OpName, ':'); i > 0 {
		m.OpName, m.OpType = m.OpName[:i], m.OpName[i+1:]
	}
	// Places are frames of a stack, be it of one; the fields for them stay empty.
	if m.StackFrameID = c.frames.of(l); m.OpName == "" && m.StackFrameID == 0 {
		return nil
	}
	return &m
}
