package bytecode

import (
	"strings"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// upgrade makes an operation of VHLO, and those in its regions, what StableHLO has today. parent is nil for those of the module.
func (d *decoder) upgrade(r *reader, op, parent *mlir.Op) {
	if rest, ok := strings.CutPrefix(op.Name, "vhlo."); ok {
		base, _, ok := splitVersion(rest)
		if !ok || vhloOps()[base] == nil {
			r.pos = min(max(op.Pos-r.base, 0), len(r.data))
			r.fail("'%s' is an operation that this halo does not know; the file was made by %s, the newest version known is %s", op.Name, d.producer, newestVHLO)
		}
		switch {
		case base == "func" || base == "call":
			op.Name = "func." + base
		case base == "return" && parent != nil && parent.Name == "func.func":
			op.Name = "func.return"
		default:
			op.Name = "stablehlo." + base
		}
		op.Attrs = d.upgradeAttrs(op)
	}
	for i := range op.Regions {
		for _, b := range op.Regions[i].Blocks {
			for _, inner := range b.Ops {
				d.upgrade(r, inner, op)
			}
		}
	}
}

// structAttrs are the attributes that VHLO has field by field: the name of the attribute, the record, and the operations that have it.
var structAttrs = map[string][2]string{
	"stablehlo.convolution":    {"dimension_numbers", "conv"},
	"stablehlo.dynamic_conv":   {"dimension_numbers", "conv"},
	"stablehlo.gather":         {"dimension_numbers", "gather"},
	"stablehlo.dynamic_gather": {"dimension_numbers", "gather"},
	"stablehlo.scatter":        {"scatter_dimension_numbers", "scatter"},
	"stablehlo.dot_general":    {"dot_dimension_numbers", "dot"},
}

// upgradeAttrs puts records together again, and drops what says nothing.
func (d *decoder) upgradeAttrs(op *mlir.Op) mlir.Attrs {
	attrs := op.Attrs
	if s, ok := structAttrs[op.Name]; ok {
		attrs = gathered(attrs, s[0], s[1])
	}
	if op.Name == "stablehlo.dot_general" {
		attrs = gathered(attrs, "algorithm", "dot_algorithm")
		if a, ok := attrs.Get("algorithm").(mlir.Struct); ok {
			if t, ok := a.Fields.Get("accumulation_type").(mlir.TypeAttr); !ok || t.Type.Kind == mlir.None {
				attrs = attrs.Without("algorithm")
			}
		}
	}
	if id, ok := attrs.Get("channel_id").(mlir.Int); ok {
		fields := mlir.Attrs{{Name: "handle", Value: id}}
		kind, typed := attrs.Get("channel_type").(mlir.Int)
		if typed {
			fields = append(fields, mlir.NamedAttr{Name: "type", Value: kind})
		}
		attrs = attrs.Without("channel_id").Without("channel_type")
		if id.Value != 0 || typed {
			attrs = attrs.With("channel_handle", mlir.Struct{Name: "channel_handle", Fields: fields})
		}
	}
	switch op.Name {
	case "stablehlo.compare":
		if e, ok := attrs.Get("compare_type").(mlir.Enum); ok && e.Value == "NOTYPE" {
			attrs = attrs.Without("compare_type")
		}
	case "stablehlo.custom_call":
		for _, name := range []string{"operand_layouts", "result_layouts", "result_tilings"} {
			if list, ok := attrs.Get(name).(mlir.Array); ok && len(list) == 0 {
				attrs = attrs.Without(name)
			}
		}
	case "func.func":
		if s, ok := attrs.Get("sym_visibility").(mlir.String); ok && s == "" {
			attrs = attrs.Without("sym_visibility")
		}
	}
	return attrs
}

// gathered replaces the fields of a record by the record.
func gathered(attrs mlir.Attrs, name, record string) mlir.Attrs {
	fields, _ := mlir.StructFields(record)
	s := mlir.Struct{Name: record}
	out := make(mlir.Attrs, 0, len(attrs))
	for _, a := range attrs {
		mine := false
		for _, f := range fields {
			mine = mine || f == a.Name
		}
		if mine {
			s.Fields = append(s.Fields, a)
		} else {
			out = append(out, a)
		}
	}
	if len(s.Fields) == 0 {
		return attrs
	}
	return append(out, mlir.NamedAttr{Name: name, Value: s})
}
