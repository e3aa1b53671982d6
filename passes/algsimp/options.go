package algsimp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo/pass"
)

// options are what XLA's simplifier can be told, by its names.
type options struct {
	layoutSensitive, fixedPoint, onCPU, fastMath, floatsAreReal                     bool
	sinkBroadcast, negativePadding, reduceOfConcat, reduceOfReshape                 bool
	windowReduce, alwaysReduceOfTranspose                                           bool
	dotStrengthReduction, dotToMultiply, nonCanonicalDots, moveDotParam, raiseSlice bool
	reorderDots, convSimplification, convAddMultiply, convOperandSwap               bool
	conditional, foldConverts, scalarMultiply, bitcastConvert, reducePrecision      bool
	keepDynamicSlice, reshapeTransposeConcat, hoistTranspose, transposeScatter      bool
	broadcastDegenerate, bitcastReshapes, mayBitcast                                bool

	reorderThreshold, raiseThreshold float64
	smallGather                      int64
	batchNorm                        string
}

var defaults = options{
	fixedPoint: true, sinkBroadcast: true, negativePadding: true, reduceOfConcat: true, reduceOfReshape: true, windowReduce: true,
	dotStrengthReduction: true, dotToMultiply: true, nonCanonicalDots: true, convSimplification: true, convOperandSwap: true,
	reshapeTransposeConcat: true, broadcastDegenerate: true, mayBitcast: true, bitcastReshapes: true, reorderThreshold: 2, raiseThreshold: 2, smallGather: 4,
}

// switches are the options that are true or false.
var switches = []struct {
	name, doc string
	field     func(*options) *bool
}{
	{"is-layout-sensitive", "layouts are final: what stands for an instruction has its layout, and data movement that leaves the bytes where they are becomes bitcast", func(o *options) *bool { return &o.layoutSensitive }},
	{"run-to-fixed-point", "repeat until no rule fits (the default), or look at each instruction once", func(o *options) *bool { return &o.fixedPoint }},
	{"executing-on-cpu", "the module is for a CPU", func(o *options) *bool { return &o.onCPU }},
	{"enable-fast-math", "like fp=fast", func(o *options) *bool { return &o.fastMath }},
	{"enable-floats-are-real", "sums of products are factored as if numbers were real", func(o *options) *bool { return &o.floatsAreReal }},
	{"enable-sink-broadcast", "compute before repeating (the default)", func(o *options) *bool { return &o.sinkBroadcast }},
	{"enable-negative-padding-replacement", "negative padding becomes slice (the default)", func(o *options) *bool { return &o.negativePadding }},
	{"enable-unconditional-reduce-of-concat-replacement", "reduce of concatenate becomes several, of whatever sizes (the default)", func(o *options) *bool { return &o.reduceOfConcat }},
	{"enable-reduce-of-reshape", "reduce looks through reshape (the default)", func(o *options) *bool { return &o.reduceOfReshape }},
	{"enable-window-reduce-to-reduce-replacement", "reduce-window over whole axes becomes reduce (the default)", func(o *options) *bool { return &o.windowReduce }},
	{"unconditionally-simplify-reduce-of-transpose-or-reshape", "also if others use the transpose or reshape", func(o *options) *bool { return &o.alwaysReduceOfTranspose }},
	{"enable-dot-strength-reduction", "dot of vectors becomes multiply and reduce (the default)", func(o *options) *bool { return &o.dotStrengthReduction }},
	{"enable-dot-to-multiply-rewrite", "dot without contraction becomes multiply (the default)", func(o *options) *bool { return &o.dotToMultiply }},
	{"supports-non-canonical-dots", "dots may have several contracted axes, anywhere (the default)", func(o *options) *bool { return &o.nonCanonicalDots }},
	{"enable-move-dot-param-to-rhs", "parameters stand on the right of dots", func(o *options) *bool { return &o.moveDotParam }},
	{"raise-slice-and-reduce-through-dot", "slices and sums of dots become dots of slices and sums", func(o *options) *bool { return &o.raiseSlice }},
	{"use-associative-reordering", "chains of dots are ordered by cost", func(o *options) *bool { return &o.reorderDots }},
	{"enable-conv-simplification", "convolutions that are products become dots (the default)", func(o *options) *bool { return &o.convSimplification }},
	{"enable-conv-add-multiply-reorder", "a scale behind convolution and bias goes into the filter", func(o *options) *bool { return &o.convAddMultiply }},
	{"enable-conv-operand-swap", "does nothing: exchanging the operands of convolutions is a pass of its own now, conv-operand-swapper", func(o *options) *bool { return &o.convOperandSwap }},
	{"enable-conditional-simplification", "conditional on a converted predicate", func(o *options) *bool { return &o.conditional }},
	{"use-convert-constant-folding", "conversions of constants are folded", func(o *options) *bool { return &o.foldConverts }},
	{"enable-scalar-multiply-reduction", "scalars that multiply around a dot gather on its smallest side", func(o *options) *bool { return &o.scalarMultiply }},
	{"rewrite-no-op-bitcast-convert-to-bitcast", "bitcast-convert becomes bitcast", func(o *options) *bool { return &o.bitcastConvert }},
	{"add-bitcasts", "reshapes that move nothing in memory become bitcast, where layouts are final (the default)", func(o *options) *bool { return &o.bitcastReshapes }},
	{"reshape-is-bitcast", "copies, and with add-bitcasts reshapes, that move nothing in memory become bitcast, where layouts are final (the default)", func(o *options) *bool { return &o.mayBitcast }},
	{"enable-remove-no-op-reduce-precision", "reduce-precision to the type's own precision goes", func(o *options) *bool { return &o.reducePrecision }},
	{"disable-dynamic-slice-to-slice-conversion", "dynamic-slice at constant indices stays", func(o *options) *bool { return &o.keepDynamicSlice }},
	{"rewrite-reshape-transpose-as-slice-concatenate", "depth to space becomes slices (the default)", func(o *options) *bool { return &o.reshapeTransposeConcat }},
	{"enable-hoist-transpose-of-reshape", "reshape of transpose of reshape becomes transpose", func(o *options) *bool { return &o.hoistTranspose }},
	{"enable-fold-transpose-into-scatter", "transpose of scatter becomes scatter", func(o *options) *bool { return &o.transposeScatter }},
	{"enable-broadcast-degenerate-dimension", "axes of size 1 are not broadcast (the default)", func(o *options) *bool { return &o.broadcastDegenerate }},
}

// gates are the rules that an option takes out.
var gates = map[string]func(*options) bool{
	"B23":  func(o *options) bool { return o.onCPU && o.sinkBroadcast },
	"E09":  func(o *options) bool { return o.hoistTranspose },
	"E19":  func(o *options) bool { return o.transposeScatter && !o.layoutSensitive },
	"C01b": func(o *options) bool { return o.batchNorm != "" },
	"G15":  func(o *options) bool { return o.raiseSlice && !o.layoutSensitive },
	"E18":  func(o *options) bool { return o.reshapeTransposeConcat && !o.layoutSensitive },
	"E25":  func(o *options) bool { return o.broadcastDegenerate && !o.layoutSensitive },
	"E06":  insensitive, "E05": insensitive, "E04s": insensitive, "E38": insensitive, "F10": insensitive, "F16": insensitive, "F17": insensitive,
	"G18": func(o *options) bool { return o.reduceOfReshape && !o.layoutSensitive },
	"G16": insensitive, "G23": insensitive, "G24": insensitive,
	"G20":  func(o *options) bool { return o.nonCanonicalDots && !o.layoutSensitive },
	"G28":  func(o *options) bool { return o.windowReduce && !o.layoutSensitive },
	"G28w": ofCompiled, "H02p": ofCompiled, "D32": ofCompiled, "D33": ofCompiled, "E40": ofCompiled, "E41": ofCompiled,
	"G18e": func(o *options) bool { return o.reduceOfReshape && !o.layoutSensitive },
	"H02":  func(o *options) bool { return o.dotToMultiply && !o.layoutSensitive },
	"H02z": func(o *options) bool { return o.dotToMultiply && !o.layoutSensitive },
	"H03":  func(o *options) bool { return o.dotStrengthReduction && !o.layoutSensitive },
	"H04":  insensitive, "H05": insensitive, "E14": insensitive, "H07": insensitive, "H08": insensitive, "H09": insensitive,
	"H06": func(o *options) bool { return o.moveDotParam && !o.layoutSensitive },
	"H10": func(o *options) bool { return o.reorderDots && !o.layoutSensitive },
	"H11": func(o *options) bool { return o.reorderDots && !o.layoutSensitive },
	"F08": func(o *options) bool { return o.raiseSlice && !o.layoutSensitive },
	"A08": insensitive, "A09": insensitive, "G04": insensitive, "G05": insensitive,
	"D24": func(o *options) bool { return o.foldConverts },
	"D30": func(o *options) bool { return o.reducePrecision },
	"D31": func(o *options) bool { return o.conditional },
	"H17": func(o *options) bool { return o.convSimplification && o.layoutSensitive },
	"H18": func(o *options) bool { return o.convSimplification && !o.layoutSensitive },
	"B12": func(o *options) bool { return o.convAddMultiply },
	"E16": sensitive, "E31": sensitive, "E33b": sensitive, "E34": sensitive, "E39": sensitive,
	"E10":  func(o *options) bool { return o.layoutSensitive && o.bitcastReshapes && o.mayBitcast },
	"E30":  func(o *options) bool { return o.layoutSensitive && o.mayBitcast },
	"D29":  func(o *options) bool { return o.layoutSensitive && o.bitcastConvert },
	"D29b": ofCompiled,
	"E42":  ofCompiled, "E43": ofCompiled, "G31": ofCompiled,
	"E27": func(o *options) bool { return o.sinkBroadcast },
	"F18": func(o *options) bool { return !o.keepDynamicSlice },
	"F30": func(o *options) bool { return o.negativePadding }, "F30s": func(o *options) bool { return o.negativePadding },
}

// insensitive is about rules that make values whose layouts are not chosen yet.
func insensitive(o *options) bool { return !o.layoutSensitive }

// ofCompiled is about rules that undo what XLA does to programs for its own kernels.
func ofCompiled(o *options) bool { return o.onCPU && !o.layoutSensitive }

// sensitive is about rules that make bitcasts.
func sensitive(o *options) bool { return o.layoutSensitive }

func params() []pass.Param {
	all := []pass.Param{
		{Name: "fp", Doc: "what rules may change in floating-point results, whatever the policy of the run: strict, xla or fast"},
		{Name: "rules", Doc: "rules to take out or to allow: rules=[-A12,+A03f]"},
		{Name: "associative-reordering-threshold", Doc: "how many times cheaper a reordered chain of dots must be: 2"},
		{Name: "raise-slice-and-reduce-through-dot-threshold", Doc: "how many times cheaper dots of slices must be: 2"},
		{Name: "very-small-gather-size", Doc: "gathers from no more elements become selects: 4"},
		{Name: "cudnn-batchnorm-forward-training-metadata", Doc: "the custom call whose third result is a variance, and not negative"},
	}
	for _, s := range switches {
		all = append(all, pass.Param{Name: s.name, Doc: s.doc})
	}
	return all
}

// read takes options as written.
func (o *options) read(text pass.Options, r *pass.Rewriter) error {
	var names []string
	for _, p := range params() {
		names = append(names, p.Name)
	}
	if err := text.Known(names...); err != nil {
		return err
	}
	for _, opt := range text {
		if i := slices.IndexFunc(switches, func(s struct {
			name, doc string
			field     func(*options) *bool
		}) bool {
			return s.name == opt.Key
		}); i >= 0 {
			on, err := text.Bool(opt.Key)
			if err != nil {
				return err
			}
			*switches[i].field(o) = on
			continue
		}
		var err error
		switch opt.Key {
		case "fp":
			if err = allow(r, opt.Text()); err != nil {
				err = fmt.Errorf("fp=%w", err)
			}
		case "rules":
			if err = choose(r, append(opt.List, opt.Value)); err != nil {
				err = fmt.Errorf("rules=%w", err)
			}
		case "associative-reordering-threshold":
			o.reorderThreshold, err = text.Float(opt.Key, 0)
		case "raise-slice-and-reduce-through-dot-threshold":
			o.raiseThreshold, err = text.Float(opt.Key, 0)
		case "very-small-gather-size":
			var n int
			n, err = text.Int(opt.Key, 0)
			o.smallGather = int64(n)
		case "cudnn-batchnorm-forward-training-metadata":
			o.batchNorm = opt.Value
		}
		if err != nil {
			return err
		}
	}
	if o.fastMath && r.Allow == nil {
		return allow(r, "fast")
	}
	if o.floatsAreReal {
		r.On = append(r.On, "A06r")
	}
	return nil
}

func allow(r *pass.Rewriter, policy string) error {
	level, err := pass.ParseFP(policy)
	r.Allow = &level
	return err
}

// known reports whether there is a rule of an id, whatever options it waits for.
func known(id string) bool {
	return gates[id] != nil || slices.ContainsFunc(catalogue(&defaults), func(r *pass.RewriteRule) bool { return r.ID == id })
}

// choose reads -ID and +ID.
func choose(r *pass.Rewriter, ids []string) error {
	for _, id := range ids {
		id, off := strings.CutPrefix(strings.TrimPrefix(id, "+"), "-")
		switch {
		case id == "":
		case !known(id):
			return fmt.Errorf("there is no rule %s", id)
		case off:
			r.Off = append(r.Off, id)
		default:
			r.On = append(r.On, id)
		}
	}
	return nil
}
