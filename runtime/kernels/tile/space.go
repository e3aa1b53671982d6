package tile

import "slices"

// maxRank bounds the dimensions of a space.
const maxRank = 32

// Space is the dimensions of the arrays that a program computes, major to minor.
type Space struct {
	Dims []int64
}

// Len is the number of elements.
func (s *Space) Len() int64 {
	n := int64(1)
	for _, d := range s.Dims {
		n *= d
	}
	return n
}

// View says which element of an array belongs to a point of a space: Base plus the sum of coordinate times stride, in elements. Turns, if not nil,
// are added to coordinates before, modulo the dimension: 0 leaves one as it is.
type View struct {
	Base    int64
	Strides []int64
	Turns   []int64
}

// turn is what is added to a coordinate.
func (v *View) turn(axis int) int64 {
	if v.Turns == nil {
		return 0
	}
	return v.Turns[axis]
}

// RowMajor is the view of an array with exactly the dimensions of s.
func (s *Space) RowMajor() View {
	v := View{Strides: make([]int64, len(s.Dims))}
	step := int64(1)
	for i := len(s.Dims) - 1; i >= 0; i-- {
		v.Strides[i] = step
		step *= s.Dims[i]
	}
	return v
}

// Collapse merges neighbouring dimensions that all views walk through without a jump, and drops those of size 1. The views are
// rewritten in place.
func (s Space) Collapse(views []*View) Space { return s.collapse(views, len(s.Dims)) }

// collapse is Collapse, but the dimensions from apart on stay as they are.
func (s Space) collapse(views []*View, apart int) Space {
	var keep []int
	for i, d := range s.Dims {
		if d != 1 || i >= apart {
			keep = append(keep, i)
		}
	}
	dims := make([]int64, 0, len(keep))
	strides, turns := make([][]int64, len(views)), make([][]int64, len(views))
	for _, i := range keep {
		last := len(dims) - 1
		merge := last >= 0 && i < apart
		for k, v := range views {
			merge = merge && strides[k][last] == v.Strides[i]*s.Dims[i] && v.turn(i) == 0
		}
		if merge {
			dims[last] *= s.Dims[i]
			for k, v := range views {
				strides[k][last] = v.Strides[i]
				if v.Turns != nil {
					turns[k][last] *= s.Dims[i] // by whole rows
				}
			}
			continue
		}
		dims = append(dims, s.Dims[i])
		for k, v := range views {
			strides[k] = append(strides[k], v.Strides[i])
			if v.Turns != nil {
				turns[k] = append(turns[k], v.Turns[i])
			}
		}
	}
	for k, v := range views {
		v.Strides, v.Turns = strides[k], turns[k]
	}
	return Space{dims}
}

// isUniform reports whether a view sees the same element from everywhere.
func (v *View) isUniform() bool {
	return v.Turns == nil && !slices.ContainsFunc(v.Strides, func(s int64) bool { return s != 0 })
}

// mode classifies a view of a collapsed space.
func (s *Space) mode(v *View) loadMode {
	lin, uni := true, true
	step := int64(1)
	for i := len(s.Dims) - 1; i >= 0; i-- {
		lin = lin && v.Strides[i] == step && v.turn(i) == 0
		uni = uni && v.Strides[i] == 0
		step *= s.Dims[i]
	}
	switch {
	case lin: // a single element too
		return linear
	case uni:
		return uniform
	}
	return gathered
}

// period is the number of points after which a view of a collapsed space begins again, or 0 if that is more than a tile.
func (s *Space) period(v *View) int {
	axis := 0
	for axis < len(s.Dims) && v.Strides[axis] == 0 {
		axis++
	}
	n := int64(1)
	for _, d := range s.Dims[axis:] {
		n *= d
	}
	if axis == 0 || n > Size {
		return 0
	}
	return int(n)
}

// alone leaves the dimensions that a view jumps between.
func (s *Space) alone(v *View) alone {
	a := alone{view: View{Base: v.Base, Strides: slices.Clone(v.Strides), Turns: slices.Clone(v.Turns)}}
	a.space = s.Collapse([]*View{&a.view})
	return a
}
