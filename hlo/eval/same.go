package eval

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// The custom calls that XLA's client writes for windows over arrays whose sizes are known at run time only. Their padding is a rule instead of
// numbers: "same" has a position for every stride of the base, "valid" has only windows that lie within it. The numbers in the program are
// those of the bounds.

// paddedByRule makes a kernel of such a call. The verifier knows nothing of what the calls demand.
func paddedByRule(k Kernel) Kernel {
	return func(c *Call) (*hlo.Literal, error) {
		v, err := k(c)
		if err != nil {
			return nil, fmt.Errorf("windows that are padded by a rule: %w", err)
		}
		return v, nil
	}
}

// sameWindows is reduce-window, padded for the sizes of its operand.
func sameWindows(c *Call) (*hlo.Literal, error) {
	w, out, err := c.sameWindow()
	if err != nil {
		return nil, err
	}
	s, err := c.ofSizes(out)
	if err != nil {
		return nil, err
	}
	return c.foldWindows(w, s)
}

// sameScatter is select-and-scatter with the padding of sameWindows.
func sameScatter(c *Call) (*hlo.Literal, error) {
	if len(c.Args) != 3 || c.In.NumCallees() != 2 {
		return nil, fmt.Errorf("%d operands and %d computations: want 3 and 2", len(c.Args), c.In.NumCallees())
	}
	w, out, err := c.sameWindow()
	if err != nil {
		return nil, err
	}
	if got := c.Args[1].Shape(); !slices.Equal(got.Dimensions(), out) {
		return nil, fmt.Errorf("a source of shape %v for windows at %v positions", got, out)
	}
	s, err := c.ofSizes(c.Args[0].Shape().Dimensions())
	if err != nil {
		return nil, err
	}
	return c.scatterWindows(w, s)
}

// sameWindow is the window of a call over operand 0, padded for its sizes, and how many positions it has in each dimension.
func (c *Call) sameWindow() (*hlo.Window, []int64, error) {
	w := hlo.AttrsOf[hlo.CustomCallAttrs](c.In).Window
	if len(c.Args) == 0 || w == nil || len(w.Dims) != c.Args[0].Shape().Rank() {
		return nil, nil, fmt.Errorf("there is no window for each dimension of the operand: StableHLO has no place for it, HLO has")
	}
	if len(c.Args) != 3 && (len(c.Args)%2 != 0 || c.In.NumCallees() != 1) {
		return nil, nil, fmt.Errorf("%d operands and %d computations", len(c.Args), c.In.NumCallees())
	}
	dims, out := slices.Clone(w.Dims), make([]int64, len(w.Dims))
	for i := range dims {
		d := &dims[i]
		if d.BaseDilation != 1 {
			return nil, nil, fmt.Errorf("a base dilation of %d", d.BaseDilation)
		}
		var err error
		if d.PadLow, out[i], err = padded(hlo.PaddingSame, c.Args[0].Shape().Dim(i), d.Size, d.WindowDilation, d.Stride); err != nil {
			return nil, nil, err
		}
	}
	return &hlo.Window{Dims: dims}, out, nil
}

// padded is the padding before n elements, and the number of positions, of a window of a size that moves over them.
func padded(rule hlo.PaddingType, n, size, dilation, stride int64) (low, positions int64, err error) {
	const most = 1 << 31
	if n < 0 || size < 1 || dilation < 1 || stride < 1 || size > most || dilation > most || stride > most || n > most {
		return 0, 0, fmt.Errorf("window of size %d, dilation %d, stride %d over %d elements", size, dilation, stride, n)
	}
	reach := (size-1)*dilation + 1
	switch rule {
	case hlo.PaddingSame:
		positions = (n + stride - 1) / stride
		return max(0, (positions-1)*stride+reach-n) / 2, positions, nil
	case hlo.PaddingValid:
		return 0, max(0, n-reach+stride) / stride, nil
	}
	return 0, 0, fmt.Errorf("padding type %v", rule)
}

// ofSizes is the shape of the result with sizes in the place of its bounds.
func (c *Call) ofSizes(sizes []int64) (hlo.Shape, error) {
	s := c.In.Shape()
	sized := hlo.MakeShape(s.Type(), sizes...)
	if !s.IsArray() || !s.Accepts(sized) && !s.Compatible(sized) {
		return s, fmt.Errorf("sizes %v of a result of shape %v", sizes, s)
	}
	return sized, c.affordable(sized)
}

// dynamicConvolution makes a kernel of a function that places the windows of a convolution, and says how large its result is in the
// dimensions of space. The last two operands are what is convolved.
func dynamicConvolution(place func(c *Call, a *hlo.CustomCallAttrs, window []hlo.WindowDim, lhs, rhs hlo.Shape) ([]int64, error)) Kernel {
	return func(c *Call) (*hlo.Literal, error) {
		a := hlo.AttrsOf[hlo.CustomCallAttrs](c.In)
		n := a.DimLabels
		if len(c.Args) < 2 || n == nil || a.Window == nil {
			return nil, fmt.Errorf("there are no operands, dim_labels or window: StableHLO has no place for the latter two, HLO has")
		}
		lhs, rhs := c.Args[len(c.Args)-2], c.Args[len(c.Args)-1]
		l, r, rank := lhs.Shape(), rhs.Shape(), len(a.Window.Dims)+2
		for _, labels := range [][]int64{
			slices.Concat([]int64{n.InputBatch, n.InputFeature}, n.InputSpatial),
			slices.Concat([]int64{n.KernelInput, n.KernelOutput}, n.KernelSpatial),
			slices.Concat([]int64{n.OutputBatch, n.OutputFeature}, n.OutputSpatial),
		} {
			if len(labels) != rank || l.Rank() != rank || r.Rank() != rank || slices.Min(labels) < 0 || slices.Max(labels) >= int64(rank) {
				return nil, fmt.Errorf("dim_labels do not fit a window of %d dimensions", len(a.Window.Dims))
			}
		}
		window, sizes := slices.Clone(a.Window.Dims), make([]int64, rank)
		for i := range window {
			window[i].Size = r.Dim(int(n.KernelSpatial[i]))
		}
		space, err := place(c, &a, window, l, r)
		if err != nil {
			return nil, err
		}
		for i, axis := range n.OutputSpatial {
			sizes[axis] = space[i]
		}
		sizes[n.OutputBatch] = l.Dim(int(n.InputBatch)) / max(1, a.BatchGroupCount)
		sizes[n.OutputFeature] = r.Dim(int(n.KernelOutput))
		s, err := c.ofSizes(sizes)
		if err != nil {
			return nil, err
		}
		return c.convolved(hlo.ConvolutionAttrs{
			Window: &hlo.Window{Dims: window}, DimLabels: n, FeatureGroupCount: a.FeatureGroupCount, BatchGroupCount: a.BatchGroupCount,
		}, lhs, rhs, s)
	}
}

// placeForward has the input and the kernel.
func placeForward(_ *Call, a *hlo.CustomCallAttrs, window []hlo.WindowDim, lhs, _ hlo.Shape) ([]int64, error) {
	space := make([]int64, len(window))
	for i := range window {
		w := &window[i]
		if w.BaseDilation != 1 {
			return nil, fmt.Errorf("a base dilation of %d", w.BaseDilation)
		}
		var err error
		if w.PadLow, space[i], err = padded(a.PaddingType, lhs.Dim(int(a.DimLabels.InputSpatial[i])), w.Size, w.WindowDilation, w.Stride); err != nil {
			return nil, err
		}
	}
	return space, nil
}

// placeInputGradient has the sizes of the input, the gradient of the result, and the kernel. The stride of the convolution it belongs to is the
// dilation of its base.
func placeInputGradient(c *Call, a *hlo.CustomCallAttrs, window []hlo.WindowDim, _, _ hlo.Shape) ([]int64, error) {
	space := make([]int64, len(window))
	if len(c.Args) != 3 || !c.Args[0].Shape().Type().IsInteger() || c.Args[0].Shape().NumElements() != int64(len(window)+2) {
		return nil, fmt.Errorf("the first of three operands has the sizes of the result")
	}
	sizes := intsOf(c.Args[0])
	for i := range window {
		w := &window[i]
		space[i] = sizes[a.DimLabels.InputSpatial[i]]
		low, _, err := padded(a.PaddingType, space[i], w.Size, w.WindowDilation, w.BaseDilation)
		if err != nil {
			return nil, err
		}
		w.PadLow = (w.Size-1)*w.WindowDilation - low
	}
	return space, nil
}

// placeKernelGradient has the input and the gradient of the result, which is the window here. The stride of the convolution it belongs to is the
// dilation of the window, and the size of that one's window is the size of the result.
func placeKernelGradient(c *Call, a *hlo.CustomCallAttrs, window []hlo.WindowDim, lhs, _ hlo.Shape) ([]int64, error) {
	space := make([]int64, len(window))
	for i := range window {
		w, axis := &window[i], int(a.DimLabels.OutputSpatial[i])
		if c.In.Shape().Rank() != len(window)+2 {
			return nil, fmt.Errorf("a result of shape %v", c.In.Shape())
		}
		space[i] = c.In.Shape().Dim(axis)
		var err error
		if w.PadLow, _, err = padded(a.PaddingType, lhs.Dim(int(a.DimLabels.InputSpatial[i])), space[i], w.Stride, w.WindowDilation); err != nil {
			return nil, err
		}
	}
	return space, nil
}
