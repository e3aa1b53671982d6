package hostprog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every row has a doc, and an op made after it is written in its own form and
// read back.
func TestEveryRow(t *testing.T) {
	names := standard().Names()
	require.Greater(t, len(names), 300)
	for _, name := range names {
		d := standard().Lookup(name)
		assert.NotEmpty(t, d.Doc, name)
		require.NotEmpty(t, d.form, name)
		p := sampleOf(t, d)
		text := Sprint(p, CustomForm)
		if name != returnOp {
			require.Contains(t, text, " "+name, "in its form")
			require.NotContains(t, text, `"`+name+`"`, "not in generic form")
		}
		for _, form := range []Form{CustomForm, GenericForm} {
			q, err := Read(name, Sprint(p, form), Config{})
			require.NoError(t, err, Sprint(p, form))
			assert.Equal(t, text, Sprint(q, CustomForm))
		}
	}
	for name, d := range formsByName() {
		if d.seed != nil {
			assert.Nil(t, standard().Lookup(name), "an older spelling is no op of today")
		}
	}
}

// sampleOf is a program with one op of the row.
func sampleOf(t *testing.T, d *OpDef) *Program {
	p := &Program{Module: &Op{Name: moduleOp}}
	body := p.Module.addRegion()
	f := &Op{Name: funcOp}
	r := f.addRegion()
	body.add(f)

	op := &Op{Name: d.Name}
	var carried []Type
	if d.Variadic && d.Name != returnOp {
		carried = []Type{"i64", "f32"}
	}
	in := append(append([]Type{}, d.Operands...), carried...)
	for _, ty := range in {
		op.addOperand(r.addArg(ty))
	}
	results := d.Results
	if d.Carried || d.AnyResults {
		results = carried
	}
	for _, ty := range results {
		op.addResult(ty)
	}
	for _, a := range d.Attrs {
		op.Attrs.Set(a.Name, sampleAttr(t, a))
	}
	if d.Cost {
		op.Attrs.Set(attrCost, intAttr("i64", 3))
	}
	for range d.regions {
		inner := op.addRegion()
		for _, i := range d.regionOperands(len(in)) {
			inner.addArg(in[i])
		}
		ret := &Op{Name: returnOp}
		n := len(inner.Args)
		switch {
		case d.Name == "tfrt_test.benchmark":
			ret.addOperand(inner.Args[0])
		case d.Name != "tfrt.parallel_for.i32":
			for _, v := range inner.Args[n-len(carried):] {
				ret.addOperand(v)
			}
		}
		inner.add(ret)
	}
	r.add(op)
	if d.Name != returnOp {
		r.add(&Op{Name: returnOp})
	}
	f.Attrs.Set(attrSymName, stringAttr("f"))
	f.Attrs.Set(attrFuncType, functionTypeAttr(in, nil))

	// A callee of the right type, whichever that is.
	g := &Op{Name: funcOp}
	args, out := carried, results
	switch d.Name {
	case "tfrt.while":
		out = append(append([]Type{}, carried...), "i1")
	case "tfrt.parallel_call.i32":
		args, out = append([]Type{"i32", "i32"}, carried...), nil
	}
	g.Attrs.Set(attrSymName, stringAttr("g"))
	g.Attrs.Set(attrFuncType, functionTypeAttr(args, out))
	g.Attrs.Set(attrNative, Attr{Kind: UnitAttr})
	body.add(g)
	body.declare(f)
	body.declare(g)
	return p
}

// sampleAttr is a value that satisfies the row.
func sampleAttr(t *testing.T, a AttrDef) Attr {
	for _, try := range []Attr{symbolAttr("g"), intAttr("i1", 1), intAttr("i32", -7), intAttr("i64", 7), intAttr("ui32", 7), intAttr("ui64", 7),
		{Kind: FloatAttr, Type: "f16", Bits: 0x3C01}, {Kind: FloatAttr, Type: "bf16", Bits: 0x7F80}, {Kind: FloatAttr, Type: "f32", Bits: 0x7FC00000},
		{Kind: FloatAttr, Type: "f64", Bits: 0x7FF0000000000000}, stringAttr("s"), {Kind: ArrayAttr, Elems: []Attr{intAttr("i64", 1)}}} {
		if a.Want == "any attribute" {
			return intAttr("i32", 1)
		}
		if strings.Contains(a.Want, "array") && a.Name == "branches" {
			return Attr{Kind: ArrayAttr, Elems: []Attr{symbolAttr("g"), symbolAttr("g")}}
		}
		if a.Is(try) {
			return try
		}
	}
	t.Fatalf("no sample of %s", a.Want)
	return Attr{}
}
