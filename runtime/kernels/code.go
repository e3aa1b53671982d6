package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/scalar"
)

// What kernels on few elements write into programs over scalars. An array of few elements is so many values there, any other one is in
// memory, where only single elements of it are touched.

// tileCode writes a tile program point by point.
func tileCode(p *tile.Program) scalar.Code {
	if p.Len() > scalar.MostLanes || p.IsLong() {
		return nil
	}
	return func(x *scalar.Site) bool {
		if slices.ContainsFunc(x.Out, func(o scalar.Operand) bool { return o.InMemory }) {
			return false
		}
		outs, ok := p.Scalar(x.Builder, func(arg int, at int64) scalar.Value { return x.Element(&x.In[arg], int(at)) })
		for i := range outs {
			if ok = ok && len(outs[i]) == len(x.Out[i].Lanes); ok {
				copy(x.Out[i].Lanes, outs[i])
			}
		}
		return ok
	}
}

// copyCode hands the elements of input 0 on.
func copyCode(x *scalar.Site) bool {
	in, out := &x.In[0], &x.Out[0]
	if out.InMemory {
		return in.InMemory && in.Place == out.Place && in.Place >= 0
	}
	if in.Width != out.Width {
		return false
	}
	for i := range out.Lanes {
		out.Lanes[i] = x.Element(in, i)
	}
	return true
}

// write computes the offset of the window in bytes, or None if it cannot move. It reports false for types of indices without
// instructions.
func (s *starts) write(x *scalar.Site, width int) (offset scalar.Value, ok bool) {
	offset = scalar.None
	for i, t := range s.types {
		if s.highest[i] == 0 {
			continue
		}
		typ, ok := tile.ScalarTypes[t]
		if !ok || !typ.IsIndex() {
			return offset, false
		}
		var at scalar.Value
		if s.list {
			at = x.Element(&x.In[s.first], i)
		} else {
			at = x.Element(&x.In[s.first+i], 0)
		}
		offset = x.AddOffsets(offset, x.Index(typ, at, s.highest[i], int64(s.strides[i]*width)))
	}
	return offset, true
}

// window lists where the elements of a window lie, in elements from its first one.
func window(sizes []int64, array []int64) []int64 {
	at := []int64{0}
	strides := rowMajor(array)
	for i, n := range sizes {
		var next []int64
		for _, a := range at {
			for k := range n {
				next = append(next, a+k*int64(strides[i]))
			}
		}
		at = next
	}
	return at
}

// whereOffset is one value where the offset is as given, and else another.
func whereOffset(x *scalar.Site, offset scalar.Value, is int64, width int, then, otherwise scalar.Value) scalar.Value {
	test, _ := x.Named(scalar.Name{Op: "eq", Type: scalar.S64}, offset, x.Const(8, uint64(is)))
	v, _ := x.Named(scalar.Name{Op: "select", Type: scalar.Sized(width)}, test, then, otherwise)
	return v
}

// elementAt is the element of an array that lies at elements behind an offset in bytes, which may be None.
func elementAt(x *scalar.Site, from *scalar.Operand, offset scalar.Value, at int) scalar.Value {
	if from.InMemory {
		return x.Load(from.Width, from.Place, offset, int64(at)*int64(from.Width))
	}
	v := from.Lanes[at]
	for i := at + 1; i < len(from.Lanes) && offset != scalar.None; i++ {
		v = whereOffset(x, offset, int64(i-at)*int64(from.Width), from.Width, from.Lanes[i], v)
	}
	return v
}

// sliceCode reads the elements of a dynamic slice.
func (s *starts) sliceCode(in, out hlo.Shape) scalar.Code {
	if out.NumElements() > scalar.MostLanes {
		return nil
	}
	at := window(out.Dimensions(), in.Dimensions())
	return func(x *scalar.Site) bool {
		from, to := &x.In[0], &x.Out[0]
		offset, ok := s.write(x, from.Width)
		if !ok || to.InMemory || from.InMemory && from.Place < 0 {
			return false
		}
		for k := range to.Lanes {
			to.Lanes[k] = elementAt(x, from, offset, int(at[k]))
		}
		return true
	}
}

// updateCode writes the elements of a dynamic update, where the array lies.
func (s *starts) updateCode(update, out hlo.Shape) scalar.Code {
	if update.NumElements() > scalar.MostLanes {
		return nil
	}
	at := window(update.Dimensions(), out.Dimensions())
	return func(x *scalar.Site) bool {
		from, by, to := &x.In[0], &x.In[1], &x.Out[0]
		offset, ok := s.write(x, to.Width)
		if !ok || by.InMemory || to.InMemory && (to.Place < 0 || from.Place != to.Place) {
			return false
		}
		if !to.InMemory {
			copy(to.Lanes, from.Lanes)
		}
		for k, v := range by.Lanes {
			if to.InMemory {
				x.Store(to.Width, to.Place, offset, at[k]*int64(to.Width), v)
				continue
			}
			if offset == scalar.None {
				to.Lanes[at[k]] = v
				continue
			}
			for i := int(at[k]); i < len(to.Lanes); i++ {
				to.Lanes[i] = whereOffset(x, offset, (int64(i)-at[k])*int64(to.Width), to.Width, v, to.Lanes[i])
			}
		}
		return true
	}
}

// code writes the parts of a fusion one after the other, if all can.
func (q *sequence) code() scalar.Code {
	for i := range q.parts {
		if b := &q.parts[i].bound; b.Run != nil && b.Code == nil {
			return nil
		}
	}
	return func(x *scalar.Site) bool {
		if slices.ContainsFunc(q.staged, func(r stagedRoot) bool { return x.Out[r.result].InMemory }) {
			return false
		}
		values := make([]scalar.Operand, len(q.values))
		for i := range q.values {
			v := &q.values[i]
			switch {
			case v.constant != nil:
				var ok bool
				if values[i], ok = x.Array(v.constant, int(v.typ.NumElements())); !ok {
					return false
				}
			case v.place.kind == inInput:
				values[i] = x.In[v.place.index]
			case v.place.kind == inOutput:
				values[i] = x.Out[v.place.index]
			default:
				values[i] = x.Empty(int(v.typ.NumElements()), int(v.typ.Bytes))
			}
		}
		for i := range q.parts {
			p := &q.parts[i]
			if p.bound.Code == nil {
				return false
			}
			site := scalar.Site{Builder: x.Builder, Out: values[p.out : p.out+1]}
			for _, v := range p.in {
				site.In = append(site.In, values[v])
			}
			if !p.bound.Code(&site) {
				return false
			}
		}
		for _, r := range q.staged {
			copy(x.Out[r.result].Lanes, values[r.value].Lanes)
		}
		return true
	}
}

// codeDiffers reports whether code may give other bits than the parts give.
func (q *sequence) codeDiffers() bool {
	return slices.ContainsFunc(q.parts, func(p seqPart) bool { return p.bound.CodeDiffers })
}
