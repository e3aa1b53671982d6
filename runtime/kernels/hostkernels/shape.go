package hostkernels

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gohalo/halo/runtime"
)

// Shape is the extents of a tensor. It is never written.
type Shape []int64

// PartialShape is a shape of which extents, those that are -1, or all are unknown.
type PartialShape struct {
	Dims     []int64
	Unranked bool
}

// FixedRankShape is a shape whose rank is a part of its type.
type FixedRankShape struct{ Dims Shape }

func registerShapes(reg *runtime.Registry) {
	build := runtime.FromAttribute(func(dims []int64) (Shape, error) {
		for _, d := range dims {
			if d < 0 {
				return nil, fmt.Errorf("negative extent in %s", formatDims(dims))
			}
		}
		return dims, nil
	})
	buildPartial := runtime.FromAttribute(func(dims []int64) (PartialShape, error) { return PartialShape{Dims: dims}, nil })
	toShape := runtime.Try1(PartialShape.complete)
	toPartial := runtime.Pure1(func(s Shape) PartialShape { return PartialShape{Dims: s} })
	elements := runtime.Pure1(Shape.numElements)
	for name, k := range map[string]runtime.Kernel{"build_shape": build, "build_partial_shape": buildPartial, "to_shape": toShape,
		"to_partial_shape": toPartial, "get_num_elements": elements} {
		reg.Kernel("ts."+name, k)
		reg.Sync("ts_sync."+name, k)
	}
	reg.Kernel("ts.build_unranked_partial_shape", runtime.PureNone(func() PartialShape { return PartialShape{Unranked: true} }))
	reg.Kernel("ts.equal_shape", runtime.Pure2(func(a, b Shape) bool { return slices.Equal(a, b) }))
	reg.Kernel("ts.get_dimension", runtime.Try2(func(s Shape, i int32) (int64, error) {
		if i < 0 || int(i) >= len(s) {
			return 0, fmt.Errorf("dimension %d of shape %s does not exist", i, formatDims(s))
		}
		return s[i], nil
	}))
	reg.Kernel("ts.print_shape", printing(func(s Shape) string { return "shape = " + formatDims(s) }))
	reg.Kernel("ts.print_partial_shape", printing(func(s PartialShape) string { return "partial_tensor_shape = " + s.String() }))
	for rank := range 4 {
		n := strconv.Itoa(rank)
		reg.Kernel("ts.as_fixed_rank_shape."+n, runtime.Try1(func(s Shape) (FixedRankShape, error) {
			if len(s) != rank {
				return FixedRankShape{}, fmt.Errorf("shape %s is not of rank %d", formatDims(s), rank)
			}
			return FixedRankShape{s}, nil
		}))
		reg.Kernel("ts.print_fixed_rank_shape."+n, printing(func(s FixedRankShape) string { return "fixed_rank_shape = " + s.String() }))
	}
}

// numElements wraps where the product does not fit.
func (s Shape) numElements() int64 {
	n := int64(1)
	for _, d := range s {
		n *= d
	}
	return n
}

// String shows no extents if there are no elements.
func (s FixedRankShape) String() string {
	if s.Dims.numElements() == 0 {
		return "[]"
	}
	return formatDims(s.Dims)
}

func (s PartialShape) String() string {
	if s.Unranked {
		return "Unknown rank"
	}
	return formatDims(s.Dims)
}

// complete returns the shape if nothing about it is unknown.
func (s PartialShape) complete() (Shape, error) {
	if s.Unranked {
		return nil, errors.New("Unknown rank")
	}
	var unknown []int64
	for i, d := range s.Dims {
		if d < 0 {
			unknown = append(unknown, int64(i))
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("Unknown dimensions at following indices = %s", formatDims(unknown))
	}
	return s.Dims, nil
}
