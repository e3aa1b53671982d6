package hlo

import (
	"fmt"
	"strconv"
)

// AppendAttr appends the text of an attribute value; p points to a field of an attribute struct (hlo-text sections 5.6 and 5.7).
// Strings are quoted. It panics on a type that no attribute has, which is a broken promise of the struct and not of any input.
func AppendAttr(b []byte, p any) []byte {
	switch p := p.(type) {
	case *bool:
		return strconv.AppendBool(b, *p)
	case *int64:
		return strconv.AppendInt(b, *p, 10)
	case *OptInt:
		return strconv.AppendInt(b, p.Value, 10)
	case *float32:
		return appendShortFloat(b, float64(*p), 32)
	case *string:
		return AppendQuoted(b, *p)
	case *[]int64:
		return appendIntList(b, *p)
	case *[][]int64:
		return appendIntLists(b, *p)
	case Enum: // a pointer to an enumeration has the methods of the enumeration
		return append(b, p.String()...)
	case *Shape:
		return p.AppendText(b, true)
	case **Window:
		return (*p).AppendText(b)
	case **ConvDims:
		return (*p).AppendText(b)
	case *[]PaddingDim:
		return appendPadding(b, *p)
	case *[]SliceDim:
		return appendSlice(b, *p)
	case *PrecisionConfig:
		return p.AppendText(b)
	case **ShapeList:
		return (*p).AppendText(b)
	case *[]OutputAlias:
		return AppendOutputAliasing(b, *p)
	case **Domain:
		return (*p).AppendText(b, true)
	case **SparsityConfig:
		return (*p).AppendText(b)
	case **ReplicaGroups:
		return (*p).AppendText(b)
	case **Literal:
		return (*p).AppendShapedText(b)
	}
	panic(fmt.Sprintf("hlo: no text form of attribute type %T", p))
}

// appendIntList appends `{1,0}`.
func appendIntList(b []byte, v []int64) []byte {
	return append(appendInts(append(b, '{'), v), '}')
}

func appendIntLists(b []byte, lists [][]int64) []byte {
	b = append(b, '{')
	for i, v := range lists {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendIntList(b, v)
	}
	return append(b, '}')
}

// AppendText appends `{1,0}`.
func (x ShapeIndex) AppendText(b []byte) []byte { return appendIntList(b, x) }

// String is the index as text.
func (x ShapeIndex) String() string { return string(x.AppendText(nil)) }

// AppendText appends the window in braces, each field where some dimension differs from its default; a nil window is `{}`.
func (w *Window) AppendText(b []byte) []byte {
	b = append(b, '{')
	if w == nil || len(w.Dims) == 0 {
		return append(b, '}')
	}
	b = w.appendField(b, "size=", func(b []byte, d *WindowDim) []byte { return strconv.AppendInt(b, d.Size, 10) })
	if w.any(func(d *WindowDim) bool { return d.Stride != 1 }) {
		b = w.appendField(b, " stride=", func(b []byte, d *WindowDim) []byte { return strconv.AppendInt(b, d.Stride, 10) })
	}
	if w.any(func(d *WindowDim) bool { return d.PadLow != 0 || d.PadHigh != 0 }) {
		b = w.appendField(b, " pad=", func(b []byte, d *WindowDim) []byte {
			return strconv.AppendInt(append(strconv.AppendInt(b, d.PadLow, 10), '_'), d.PadHigh, 10)
		})
	}
	if w.any(func(d *WindowDim) bool { return d.BaseDilation != 1 }) {
		b = w.appendField(b, " lhs_dilate=", func(b []byte, d *WindowDim) []byte { return strconv.AppendInt(b, d.BaseDilation, 10) })
	}
	if w.any(func(d *WindowDim) bool { return d.WindowDilation != 1 }) {
		b = w.appendField(b, " rhs_dilate=", func(b []byte, d *WindowDim) []byte { return strconv.AppendInt(b, d.WindowDilation, 10) })
	}
	if w.any(func(d *WindowDim) bool { return d.Reversal }) {
		b = w.appendField(b, " rhs_reversal=", func(b []byte, d *WindowDim) []byte {
			return strconv.AppendInt(b, int64(boolInt(d.Reversal)), 10)
		})
	}
	return append(b, '}')
}

func (w *Window) any(f func(*WindowDim) bool) bool {
	for i := range w.Dims {
		if f(&w.Dims[i]) {
			return true
		}
	}
	return false
}

func (w *Window) appendField(b []byte, head string, f func([]byte, *WindowDim) []byte) []byte {
	b = append(b, head...)
	for i := range w.Dims {
		if i > 0 {
			b = append(b, 'x')
		}
		b = f(b, &w.Dims[i])
	}
	return b
}

// String is the window as text.
func (w *Window) String() string { return string(w.AppendText(nil)) }

// AppendText appends `b01f_01io->b01f`. An axis without a role is `?`.
func (d *ConvDims) AppendText(b []byte) []byte {
	b = appendConvPart(b, 'b', 'f', d.InputBatch, d.InputFeature, d.InputSpatial, d.InputUnknown)
	b = append(b, '_')
	b = appendConvPart(b, 'i', 'o', d.KernelInput, d.KernelOutput, d.KernelSpatial, d.KernelUnknown)
	b = append(b, "->"...)
	return appendConvPart(b, 'b', 'f', d.OutputBatch, d.OutputFeature, d.OutputSpatial, d.OutputUnknown)
}

// appendConvPart labels the axes of one part: x and y name the axes px and py, spatial dimension i is axis spatial[i].
func appendConvPart(b []byte, x, y byte, px, py int64, spatial, unknown []int64) []byte {
	at := len(b)
	for range 2 + len(spatial) + len(unknown) {
		b = append(b, '?')
	}
	part := b[at:]
	put := func(axis int64, label byte) {
		if axis >= 0 && axis < int64(len(part)) {
			part[axis] = label
		}
	}
	for i, axis := range spatial {
		put(axis, '0'+byte(i%10))
	}
	put(px, x)
	put(py, y)
	return b
}

// String is the labels as text.
func (d *ConvDims) String() string { return string(d.AppendText(nil)) }

// appendPadding appends `1_2x0_0`, with the interior on every dimension when some interior is not 0.
func appendPadding(b []byte, dims []PaddingDim) []byte {
	interior := false
	for _, d := range dims {
		interior = interior || d.Interior != 0
	}
	for i, d := range dims {
		if i > 0 {
			b = append(b, 'x')
		}
		b = strconv.AppendInt(append(strconv.AppendInt(b, d.Low, 10), '_'), d.High, 10)
		if interior {
			b = strconv.AppendInt(append(b, '_'), d.Interior, 10)
		}
	}
	return b
}

// appendSlice appends `{[0:4], [0:4]}`, with the stride on every dimension when some stride is not 1.
func appendSlice(b []byte, dims []SliceDim) []byte {
	strides := false
	for _, d := range dims {
		strides = strides || d.Stride != 1
	}
	b = append(b, '{')
	for i, d := range dims {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(append(strconv.AppendInt(append(b, '['), d.Start, 10), ':'), d.Limit, 10)
		if strides {
			b = strconv.AppendInt(append(b, ':'), d.Stride, 10)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// IsDefault reports whether every precision is the default one, so that nothing is written.
func (p PrecisionConfig) IsDefault() bool {
	for _, v := range p {
		if v != PrecisionDefault {
			return false
		}
	}
	return true
}

// AppendText appends `{high,default}`.
func (p PrecisionConfig) AppendText(b []byte) []byte {
	b = append(b, '{')
	for i, v := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v.String()...)
	}
	return append(b, '}')
}

// AppendText appends `{f32[2]{0}, f32[3]{0}}`.
func (l *ShapeList) AppendText(b []byte) []byte {
	b = append(b, '{')
	for i, s := range l.Shapes {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = s.AppendText(b, true)
	}
	return append(b, '}')
}

// AppendOutputAliasing appends `{{0}: (1, {}), {1}: (0, {0})}`.
func AppendOutputAliasing(b []byte, aliases []OutputAlias) []byte {
	b = append(b, '{')
	for i, a := range aliases {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(a.Output.AppendText(b), ": ("...)
		b = append(strconv.AppendInt(b, a.Operand, 10), ", "...)
		b = append(a.OperandIndex.AppendText(b), ')')
	}
	return append(b, '}')
}

// AppendText appends `{lhs={sparsity=1x4 dimension=1 stride=1} rhs={...}}`.
func (c *SparsityConfig) AppendText(b []byte) []byte {
	b = append(b, '{')
	if c.LHS != nil {
		b = c.LHS.appendText(append(b, "lhs="...))
	}
	if c.RHS != nil {
		if c.LHS != nil {
			b = append(b, ' ')
		}
		b = c.RHS.appendText(append(b, "rhs="...))
	}
	return append(b, '}')
}

func (s *Sparsity) appendText(b []byte) []byte {
	b = strconv.AppendInt(append(b, "{sparsity="...), s.NonZeros, 10)
	b = strconv.AppendInt(append(b, 'x'), s.Block, 10)
	b = strconv.AppendInt(append(b, " dimension="...), s.Dimension, 10)
	b = strconv.AppendInt(append(b, " stride="...), s.Stride, 10)
	if s.Index.Set {
		b = strconv.AppendInt(append(b, " idx="...), s.Index.Value, 10)
	}
	return append(b, '}')
}

// AppendText appends the replica groups in their own form; nil is `{}`.
func (g *ReplicaGroups) AppendText(b []byte) []byte {
	switch {
	case g == nil:
		return append(b, "{}"...)
	case g.Mesh != nil:
		b = append(g.Mesh.AppendText(b), " {"...)
		return append(g.Mesh.appendRefs(b, g.Axes, ","), '}')
	case g.Iota != nil:
		b = strconv.AppendInt(append(b, '['), g.Groups, 10)
		b = strconv.AppendInt(append(b, ','), g.GroupSize, 10)
		return g.Iota.appendText(append(b, "]<="...))
	}
	return appendIntLists(b, g.Lists)
}

// appendText appends `[4,2]T(1,0)`.
func (t *IotaTile) appendText(b []byte) []byte {
	b = append(appendInts(append(b, '['), t.Reshape), ']')
	if len(t.Reshape) > 1 {
		b = append(b, "T("...)
		for i, axis := range t.Transpose {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(axis), 10)
		}
		b = append(b, ')')
	}
	return b
}

// String is the groups as text.
func (g *ReplicaGroups) String() string { return string(g.AppendText(nil)) }
