package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Custom calls: the targets that stand for an identity, XLA's own few, and the LAPACK calls that JAX makes on CPU (lapack.go).
func init() {
	register(map[hlo.Opcode]Kernel{hlo.OpCustomCall: customCall})
	for _, target := range identityTargets {
		customCalls[target] = sameArgument
	}
}

// identityTargets only say something about their operand: where it lies, how it is divided.
var identityTargets = []string{
	"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LocalToGlobalShape", "GlobalToLocalShape",
	"xla.sdy.Sharding", "xla.sdy.FuncResultSharding", "xla.sdy.LocalToGlobalShape", "xla.sdy.GlobalToLocalShape",
	"LayoutConstraint", "annotate_device_placement", "MoveToHost", "MoveToDevice", "Pin", "Unpin", "SetBound",
	"ShardBarrierFrom", "ShardBarrierTo",
}

// sameArgument is the operand. Between the shape of one device's part and that of the whole array it is so only where there is one device.
func sameArgument(c *Call) (*hlo.Literal, error) {
	v, err := argument(c)
	if err != nil {
		return nil, err
	}
	got, want := v.Shape(), c.In.Shape()
	if got.IsTuple() != want.IsTuple() {
		return nil, fmt.Errorf("%v gives %v: its result is its operand", got, want)
	}
	if want.IsArray() && !got.Compatible(want) && !want.Accepts(got) {
		return nil, fmt.Errorf("a part of shape %v of an array of shape %v, or the reverse: this takes several devices", got, want)
	}
	return v, nil
}

var customCalls = map[string]Kernel{
	"TopK":                   topKCall,
	hlo.TargetAllocateBuffer: uninitialized,
	"CreateBuffer":           uninitialized,
	"GetRngSeed":             rngSeed,
	"PadToStatic":            padToStatic,
	"SliceToDynamic":         sliceToDynamic,

	"DynamicReduceWindowSamePadding":     paddedByRule(sameWindows),
	"DynamicSelectAndScatterSamePadding": paddedByRule(sameScatter),
	"DynamicConvolutionForward":          paddedByRule(dynamicConvolution(placeForward)),
	"DynamicConvolutionInputGrad":        paddedByRule(dynamicConvolution(placeInputGradient)),
	"DynamicConvolutionKernelGrad":       paddedByRule(dynamicConvolution(placeKernelGradient)),

	// The custom calls that XLA's client writes for decompositions on processors without a library for them.
	"Qr": lapackGeqrf,
	"ProductOfElementaryHouseholderReflectors": lapackOrgqr,
	"Eigh": eigh,

	"control_dep": order,

	"__xla_internal_call_marker_before": allArguments,
	"__xla_internal_call_marker_after":  allArguments,
}

// order says that one operand is computed before another, and has no result.
func order(c *Call) (*hlo.Literal, error) {
	if c.In.Shape().IsTuple() && c.In.Shape().NumElems() == 0 {
		return hlo.NewTupleLiteral(), nil
	}
	return sameArgument(c)
}

// allArguments is the operand, or a tuple of the operands.
func allArguments(c *Call) (*hlo.Literal, error) {
	if len(c.Args) == 1 && isValueOf(c.Args[0].Shape(), c.In.Shape()) {
		return sameArgument(c)
	}
	v := hlo.NewTupleLiteral(c.Args...)
	if got, want := v.Shape(), c.In.Shape(); !isValueOf(got, want) {
		return nil, fmt.Errorf("operands %v give %v: its result is its operands", got, want)
	}
	return v, nil
}

// isValueOf reports whether values of a shape, whose sizes are known, are values of another, whose sizes may be bounds.
func isValueOf(actual, s hlo.Shape) bool {
	if !s.IsTuple() || !actual.IsTuple() || s.NumElems() != actual.NumElems() {
		return s.Accepts(actual) || s.Compatible(actual)
	}
	for i := range s.NumElems() {
		if !isValueOf(actual.Elem(i), s.Elem(i)) {
			return false
		}
	}
	return true
}

func customCall(c *Call) (*hlo.Literal, error) {
	target := hlo.AttrsOf[hlo.CustomCallAttrs](c.In).Target
	if k := c.e.o.CustomCalls[target]; k != nil {
		return k(c)
	}
	if k := customCalls[target]; k != nil {
		return k(c)
	}
	if k := lapackCalls()[target]; k != nil {
		return k(c)
	}
	return nil, unknownTarget(target)
}

// unknownTarget says what a target may be, and how to give meaning to another.
func unknownTarget(target string) error {
	known := slices.Sorted(maps.Keys(customCalls))
	if similar := slices.DeleteFunc(slices.Sorted(maps.Keys(lapackCalls())), func(name string) bool { return !strings.HasPrefix(name, lapackPrefix(target)) }); len(similar) > 0 {
		known = similar
	}
	return fmt.Errorf(`custom-call target %q is not known. In Go it gets its meaning by eval.Options.CustomCalls[%[1]q] here, and by Registry.CustomCall(%[1]q, ...) of the runtime. Known are %[2]s`,
		target, strings.Join(known, ", "))
}

// lapackPrefix is how LAPACK calls for the same element type begin; of other targets it is what no call begins with.
func lapackPrefix(target string) string {
	if strings.HasPrefix(target, "lapack_") && len(target) > len("lapack_s") {
		return target[:len("lapack_s")]
	}
	return "-"
}

func rngSeed(c *Call) (*hlo.Literal, error) {
	return packInts(c.In.Shape(), []int64{int64(c.e.o.Seed)})
}

// uninitialized is storage whose contents do not matter.
func uninitialized(c *Call) (*hlo.Literal, error) {
	s := c.In.Shape()
	if s.IsBuffer() {
		s = s.Elem(0)
	}
	if err := c.affordable(s); err != nil {
		return nil, err
	}
	return assemble(s, zeroLiteral)
}

// topKCall sorts each line of the last axis by the comparator, of values or of values and their indices, or the largest first if there is none, and keeps the first k, which the
// result's shape says.
func topKCall(c *Call) (*hlo.Literal, error) {
	s := c.In.Shape()
	if len(c.Args) != 1 || c.In.NumCallees() > 1 || !s.IsTuple() || s.NumElems() != 2 {
		return nil, fmt.Errorf("TopK takes an array and at most one comparator and gives values and indices")
	}
	if c.In.NumCallees() == 0 {
		d := dimsOf(s.Elem(0))
		if len(d) == 0 {
			return nil, fmt.Errorf("TopK of %v to %v", c.Args[0].Shape(), s)
		}
		return topKOf(s, c.Args[0], d[len(d)-1], true)
	}
	p, err := c.apply(0)
	if err != nil {
		return nil, err
	}
	l := c.Args[0]
	dims, out := dimsOf(l.Shape()), dimsOf(s.Elem(0))
	if len(dims) == 0 || len(out) != len(dims) || out[len(out)-1] > dims[len(dims)-1] {
		return nil, fmt.Errorf("TopK of %v to %v", l.Shape(), s)
	}
	n, k := dims[len(dims)-1], out[len(out)-1]
	rows := product(dims[:len(dims)-1])
	index := slices.Repeat(encodedCount(n, hlo.S32), rows)
	count, err := hlo.NewLiteral(hlo.MakeShape(hlo.S32, int64(rows), int64(n)), index)
	if err != nil {
		return nil, err
	}
	compared := []*hlo.Literal{l, count}
	if len(p.params) == 2 {
		compared = compared[:1]
	}
	if err := p.compares(compared); err != nil {
		return nil, err
	}
	w := l.Shape().Type().ByteSize()
	data := [][]byte{bytesOf(l), index}
	values, indices := make([]byte, rows*k*w), make([]byte, rows*k*4)
	sorter := newSorter(p, compared, n)
	for r := range rows {
		order, err := sorter.first(data, r, k)
		if err == nil {
			err = c.e.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		reorder(values[r*k*w:(r+1)*k*w], data[0][r*n*w:(r+1)*n*w], order[:k], w)
		reorder(indices[r*k*4:(r+1)*k*4], index[r*n*4:(r+1)*n*4], order[:k], 4)
	}
	v, err := hlo.NewLiteral(s.Elem(0), values)
	if err != nil {
		return nil, err
	}
	i, err := hlo.NewLiteral(s.Elem(1), indices)
	return hlo.NewTupleLiteral(v, i), err
}

// padToStatic gives a dynamic array its bound, and its sizes as numbers.
func padToStatic(c *Call) (*hlo.Literal, error) {
	s, l := c.In.Shape(), c.Args[0]
	if !s.IsTuple() || s.NumElems() != 1+l.Shape().Rank() || s.Elem(0).Rank() != l.Shape().Rank() {
		return nil, fmt.Errorf("PadToStatic of %v to %v", l.Shape(), s)
	}
	dims := dimsOf(l.Shape())
	to := dimsOf(s.Elem(0))
	for i, d := range dims {
		if d > to[i] {
			return nil, fmt.Errorf("%v exceeds %v", l.Shape(), s.Elem(0))
		}
	}
	out := make([]byte, s.Elem(0).ByteSize())
	moveBlock(place{out, 0, rowMajor(to)}, place{bytesOf(l), 0, rowMajor(dims)}, dims, l.Shape().Type().ByteSize())
	data, err := hlo.NewLiteral(s.Elem(0), out)
	if err != nil {
		return nil, err
	}
	parts := []*hlo.Literal{data}
	for i, d := range dims {
		n, err := packInts(s.Elem(1+i), []int64{int64(d)})
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
	return hlo.NewTupleLiteral(parts...), nil
}

// sliceToDynamic is the inverse of padToStatic.
func sliceToDynamic(c *Call) (*hlo.Literal, error) {
	l := c.Args[0]
	dims := dimsOf(l.Shape())
	if len(c.Args) != 1+len(dims) {
		return nil, fmt.Errorf("%d sizes for %v", len(c.Args)-1, l.Shape())
	}
	src := place{bytesOf(l), 0, rowMajor(dims)}
	sizes := make([]int64, len(dims))
	for i := range dims {
		n, ok := c.Args[1+i].ScalarInt()
		if !ok || n < 0 || n > int64(dims[i]) {
			return nil, fmt.Errorf("size %d of dimension %d of %v", n, i, l.Shape())
		}
		dims[i], sizes[i] = int(n), n
	}
	return cutOut(hlo.MakeShape(l.Shape().Type(), sizes...), dims, src)
}
