package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// ints is a list of integers that an operation must have.
func (c *comp) ints(name string) []int64 {
	v, ok := mlir.Ints(c.op.Attrs.Get(name))
	if !ok {
		c.fail(c.op, "'%s' wants the attribute %s, a list of integers", c.op.Name, name)
	}
	return v
}

// intsOr is a list of n integers, all equal to other when there is none. A list of one stands for as many as it takes.
func (c *comp) intsOr(name string, n int, other int64) []int64 {
	a := c.op.Attrs.Get(name)
	v, ok := mlir.Ints(a)
	if a == nil {
		v, ok = make([]int64, n), true
		for i := range v {
			v[i] = other
		}
	}
	if !ok || len(v) != n {
		c.fail(c.op, "the attribute %s of '%s' is not a list of %d integers", name, c.op.Name, n)
	}
	return v
}

// int is an integer that an operation must have.
func (c *comp) int(name string) int64 {
	v, ok := c.op.Attrs.Get(name).(mlir.Int)
	if !ok {
		c.fail(c.op, "'%s' wants the attribute %s, an integer", c.op.Name, name)
	}
	return v.Value
}

func (c *comp) intOr(name string, other int64) int64 {
	if !c.op.Attrs.Has(name) {
		return other
	}
	return c.int(name)
}

// flag is a boolean or unit attribute, false without one.
func (c *comp) flag(name string) bool { return flagOf(c.op.Attrs.Get(name)) }

func flagOf(a mlir.Attr) bool {
	switch a := a.(type) {
	case mlir.Bool:
		return bool(a)
	case mlir.Int:
		return a.Value != 0
	case mlir.Unit:
		return true
	}
	return false
}

// str is a string that an operation must have.
func (c *comp) str(name string) string {
	switch a := c.op.Attrs.Get(name).(type) {
	case mlir.String:
		return string(a)
	case mlir.Symbol:
		return string(a)
	}
	c.fail(c.op, "'%s' wants the attribute %s, a string", c.op.Name, name)
	return ""
}

// enum is a word of a dialect that an operation must have.
func (c *comp) enum(name string) string {
	switch a := c.op.Attrs.Get(name).(type) {
	case mlir.Enum:
		return a.Value
	case mlir.String: // very old text
		return string(a)
	}
	c.fail(c.op, "'%s' wants the attribute %s", c.op.Name, name)
	return ""
}

// record is a record that an operation must have.
func (c *comp) record(name string) mlir.Struct {
	s, ok := c.op.Attrs.Get(name).(mlir.Struct)
	if !ok {
		c.fail(c.op, "'%s' wants the attribute %s", c.op.Name, name)
	}
	return s
}

// field is a list of a record, empty without one.
func (c *comp) field(s mlir.Struct, name string) []int64 {
	a := s.Fields.Get(name)
	if a == nil {
		return []int64{}
	}
	v, ok := mlir.Ints(a)
	if !ok {
		c.fail(c.op, "the field %s of %s is not a list of integers", name, s.Name)
	}
	return v
}

// fieldInt is an integer of a record, 0 without one.
func (c *comp) fieldInt(s mlir.Struct, name string) int64 {
	switch v := s.Fields.Get(name).(type) {
	case nil:
		return 0
	case mlir.Int:
		return v.Value
	}
	c.fail(c.op, "the field %s of %s is not an integer", name, s.Name)
	return 0
}

// table is a matrix of integers: its rows. Absent: nil.
func (c *comp) table(name string, columns int) [][]int64 {
	a := c.op.Attrs.Get(name)
	if a == nil {
		return nil
	}
	if list, ok := a.(mlir.Array); ok { // [[1, 1], [0, 0]]
		out := make([][]int64, len(list))
		for i, x := range list {
			v, ok := mlir.Ints(x)
			if !ok || columns > 0 && len(v) != columns {
				c.fail(c.op, "row %d of the attribute %s of '%s' is not a list of %d integers", i, name, c.op.Name, columns)
			}
			out[i] = v
		}
		return out
	}
	d, ok := a.(mlir.Dense)
	if !ok || len(d.Type.Dims) != 2 && d.Type.NumElements() != 0 {
		c.fail(c.op, "the attribute %s of '%s' is not a matrix of integers", name, c.op.Name)
	}
	v, ok := d.Ints()
	if !ok || columns > 0 && len(d.Type.Dims) == 2 && d.Type.Dims[1] != int64(columns) {
		c.fail(c.op, "the attribute %s of '%s' is not a matrix of %d columns", name, c.op.Name, columns)
	}
	if len(v) == 0 {
		return nil
	}
	n := int(d.Type.Dims[1])
	out := make([][]int64, 0, len(v)/n)
	for i := 0; i < len(v); i += n {
		out = append(out, v[i:i+n])
	}
	return out
}

// precision is the precision_config of an operation.
func (c *comp) precision() hlo.PrecisionConfig {
	list, _ := c.op.Attrs.Get("precision_config").(mlir.Array)
	var p hlo.PrecisionConfig
	for _, a := range list {
		e, _ := a.(mlir.Enum)
		switch e.Value {
		case "DEFAULT":
			p = append(p, hlo.PrecisionDefault)
		case "HIGH":
			p = append(p, hlo.PrecisionHigh)
		case "HIGHEST":
			p = append(p, hlo.PrecisionHighest)
		default:
			c.fail(c.op, "an element of precision_config of '%s' is no precision", c.op.Name)
		}
	}
	if p.IsDefault() {
		return nil
	}
	return p
}

// window puts the window attributes of an operation together. size is the size of the window in each dimension.
func (c *comp) window(size []int64, base, dilation string) *hlo.Window {
	n := len(size)
	strides := c.intsOr("window_strides", n, 1)
	lhs, rhs := c.intsOr(base, n, 1), c.intsOr(dilation, n, 1)
	pad := c.table("padding", 2)
	if pad != nil && len(pad) != n {
		c.fail(c.op, "the padding of '%s' is for %d dimensions, the window has %d", c.op.Name, len(pad), n)
	}
	reversal := c.intsOr("window_reversal", n, 0)
	w := new(hlo.Window)
	for i := range n {
		d := hlo.WindowDim{
			Size: size[i], Stride: strides[i], BaseDilation: lhs[i], WindowDilation: rhs[i], Reversal: reversal[i] != 0,
		}
		if pad != nil {
			d.PadLow, d.PadHigh = pad[i][0], pad[i][1]
		}
		w.Dims = append(w.Dims, d)
	}
	if n == 0 {
		return nil
	}
	return w
}
