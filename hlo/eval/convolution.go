package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// convolution gathers, for each output position, the input elements under the window into a row, and multiplies blocks of such rows
// with the kernel:
//
//  1. Input to [batch, spatial..., feature], kernel to [output feature, window..., input feature], reversed where the window says so.
//  2. For each feature or batch group: rows of window·features inputs, zeros for padding and holes; one product of matrices.
//  3. The result to the order of its axes.
func convolution(c *Call) (*hlo.Literal, error) {
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	return c.convolved(hlo.AttrsOf[hlo.ConvolutionAttrs](c.In), c.Args[0], c.Args[1], s)
}

// convolved is the convolution of two arrays to a shape.
func (c *Call) convolved(a hlo.ConvolutionAttrs, lhs, rhs *hlo.Literal, s hlo.Shape) (*hlo.Literal, error) {
	g, err := newConvolution(a, lhs.Shape(), rhs.Shape(), s)
	if err != nil {
		return nil, err
	}
	lhs, rhs, err = operandsAs(s.Type(), lhs, rhs)
	if err != nil {
		return nil, err
	}
	lhs, rhs = inOrder(lhs, dimsOf(lhs.Shape()), g.inputPerm), inOrder(rhs, dimsOf(rhs.Shape()), g.kernelPerm)
	var flat *hlo.Literal
	ctx := c.e.ctx
	to := hlo.MakeShape(s.Type(), s.NumElements())
	switch classOf(s.Type()) {
	case floats:
		flat, err = packFloats(to, convolve(ctx, g, floatsOf(lhs), floatsOf(rhs)))
	case complexes:
		flat, err = packComplex(to, convolve(ctx, g, complexOf(lhs), complexOf(rhs)))
	default:
		flat, err = packInts(to, convolve(ctx, g, intsOf(lhs), intsOf(rhs)))
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	back := make([]int, len(g.outputPerm))
	for i, a := range g.outputPerm {
		back[a] = i
	}
	return hlo.NewLiteral(s, permuted(flat.Bytes(), picked(dimsOf(s), g.outputPerm), back, s.Type().ByteSize()))
}

type convGeometry struct {
	inputPerm, kernelPerm, outputPerm []int
	window                            []hlo.WindowDim
	in, out                           []int // spatial sizes
	batchIn, batchOut                 int
	features, kernelFeatures, outputs int // of the input, of each kernel, of the output
	featureGroups, batchGroups        int
}

func newConvolution(a hlo.ConvolutionAttrs, lhs, rhs, s hlo.Shape) (*convGeometry, error) {
	n := a.DimLabels
	if n == nil || a.Sparsity != nil {
		return nil, fmt.Errorf("convolution without dim_labels, or with sparsity")
	}
	g := &convGeometry{
		inputPerm:     slices.Concat([]int{int(n.InputBatch)}, ints(n.InputSpatial), []int{int(n.InputFeature)}),
		kernelPerm:    slices.Concat([]int{int(n.KernelOutput)}, ints(n.KernelSpatial), []int{int(n.KernelInput)}),
		outputPerm:    slices.Concat([]int{int(n.OutputBatch)}, ints(n.OutputSpatial), []int{int(n.OutputFeature)}),
		featureGroups: int(max(1, a.FeatureGroupCount)), batchGroups: int(max(1, a.BatchGroupCount)),
	}
	if a.Window != nil {
		g.window = a.Window.Dims
	}
	in, kernel, out := dimsOf(lhs), dimsOf(rhs), dimsOf(s)
	rank := len(g.window) + 2
	for perm, dims := range map[*[]int][]int{&g.inputPerm: in, &g.kernelPerm: kernel, &g.outputPerm: out} {
		sorted := slices.Sorted(slices.Values(*perm))
		for i, x := range sorted {
			if i != x || len(sorted) != rank || len(dims) != rank {
				return nil, fmt.Errorf("dim_labels do not fit a window of %d dimensions", len(g.window))
			}
		}
	}
	in, kernel, out = picked(in, g.inputPerm), picked(kernel, g.kernelPerm), picked(out, g.outputPerm)
	g.in, g.out = in[1:rank-1], out[1:rank-1]
	g.batchIn, g.batchOut, g.features, g.outputs, g.kernelFeatures = in[0], out[0], in[rank-1], out[rank-1], kernel[rank-1]
	for i, w := range g.window {
		if int(w.Size) != kernel[1+i] || w.Stride < 1 || w.BaseDilation < 1 || w.WindowDilation < 1 {
			return nil, fmt.Errorf("window does not fit a kernel of %v", rhs)
		}
	}
	if kernel[0] != g.outputs || g.features != g.kernelFeatures*g.featureGroups || g.batchIn != g.batchOut*g.batchGroups ||
		g.outputs%max(g.featureGroups, g.batchGroups) != 0 || g.featureGroups > 1 && g.batchGroups > 1 {
		return nil, fmt.Errorf("groups do not divide %v, %v", lhs, rhs)
	}
	return g, nil
}

// source is the input position under window index k of output position p, -1 where there is none.
func source(w *hlo.WindowDim, p, k, size int) int {
	at := p*int(w.Stride) + k*int(w.WindowDilation) - int(w.PadLow)
	if at < 0 || at%int(w.BaseDilation) != 0 {
		return -1
	}
	if at /= int(w.BaseDilation); at >= size {
		return -1
	}
	return at
}

// convolve returns early, with anything, when ctx is cancelled.
func convolve[T number](ctx context.Context, g *convGeometry, input, kernel []T) []T {
	groups := max(g.featureGroups, g.batchGroups)
	perGroup := g.outputs / max(groups, 1)
	size := make([]int, len(g.window))
	for i, w := range g.window {
		size[i] = int(w.Size)
	}
	taps := product(size)
	k := taps * g.kernelFeatures
	kernel = reversedWindow(g, kernel, size)
	positions := product(g.out)
	out := make([]T, g.batchOut*positions*g.outputs)
	block := max(1, min(positions, (1<<18)/max(k, 1)))
	var offsets []int // of all positions, if the table is of a reasonable size
	whole := positions*taps <= 1<<22
	if whole {
		offsets = g.tapOffsets(nil, size, 0, positions)
	}
	rows, sums := make([]T, block*k), make([]T, block*perGroup)
	for gr := range groups {
		feature, batch := 0, 0
		if g.featureGroups > 1 {
			feature = gr * g.kernelFeatures
		}
		if g.batchGroups > 1 {
			batch = gr * g.batchOut
		}
		weights := kernel[gr*perGroup*k : (gr+1)*perGroup*k]
		for n := range g.batchOut {
			image := input[(n+batch)*product(g.in)*g.features:]
			for p0 := 0; p0 < positions; p0 += block {
				if ctx.Err() != nil {
					return out
				}
				m := min(block, positions-p0)
				here := offsets
				if whole {
					here = offsets[p0*taps : (p0+m)*taps]
				} else {
					offsets = g.tapOffsets(offsets[:0], size, p0, m)
					here = offsets
				}
				gatherRows(rows, image, here, g.features, feature, g.kernelFeatures)
				clear(sums)
				gemm(sums[:m*perGroup], rows[:m*k], weights, m, perGroup, k)
				for i := range m {
					copy(out[((n*positions)+p0+i)*g.outputs+gr*perGroup:][:perGroup], sums[i*perGroup:])
				}
			}
		}
	}
	return out
}

// tapOffsets appends, for n output positions from p0 on and every window index, the input position as an index into the spatial axes, or
// -1.
func (g *convGeometry) tapOffsets(offsets []int, size []int, p0, n int) []int {
	strides := rowMajor(g.in)
	o := newOdometer(g.out)
	if !o.done {
		o.index = unflatten(p0, g.out)
	}
	for ; n > 0 && !o.done; n-- {
		for w := newOdometer(size); !w.done; w.next() {
			at := 0
			for d := range g.window {
				x := source(&g.window[d], o.index[d], w.index[d], g.in[d])
				if x < 0 {
					at = -1
					break
				}
				at += x * strides[d]
			}
			offsets = append(offsets, at)
		}
		o.next()
	}
	return offsets
}

func gatherRows[T number](rows, image []T, offsets []int, stride, feature, n int) {
	at := 0
	for _, o := range offsets {
		row := rows[at : at+n]
		at += n
		if o < 0 {
			clear(row)
			continue
		}
		copy(row, image[o*stride+feature:])
	}
}

// reversedWindow turns the kernel [output, window..., feature] around along the axes of the window that are reversed.
func reversedWindow[T number](g *convGeometry, kernel []T, size []int) []T {
	if !slices.ContainsFunc(g.window, func(w hlo.WindowDim) bool { return w.Reversal }) {
		return kernel
	}
	taps := product(size)
	strides := rowMajor(size)
	out := make([]T, len(kernel))
	for o := range g.outputs {
		k := 0
		for w := newOdometer(size); !w.done; w.next() {
			from := 0
			for d, x := range w.index {
				if g.window[d].Reversal {
					x = size[d] - 1 - x
				}
				from += x * strides[d]
			}
			copy(out[(o*taps+k)*g.kernelFeatures:][:g.kernelFeatures], kernel[(o*taps+from)*g.kernelFeatures:])
			k++
		}
	}
	return out
}
