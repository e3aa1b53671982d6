package spmd

import "github.com/gohalo/halo/hlo"

// factorKind says what splitting a factor means.
type factorKind uint8

const (
	passFactor   factorKind = iota // each part computes a part of the result
	reduceFactor                   // parts of the result have to be combined
	wholeFactor                    // must not be split while the op runs
	slideFactor                    // each part of the result needs a part of the operand and what is beside it
)

// factor is a set of dimensions of operands and results of an op that belong together.
type factor struct {
	kind     factorKind
	operands []int   // the dimension of each operand; -1: none
	result   int     // of every result; -1: none
	slides   []slide // of a slideFactor, for each operand that has it; the zero slide: parts are as they lie
	// combines says that parts of a slideFactor's result have to be combined.
	combines bool
}

// dim is the factor's dimension of an operand, or of the results (-1).
func (f *factor) dim(source int) int {
	if source < 0 {
		return f.result
	}
	return f.operands[source]
}

// reduces reports whether parts of the result have to be combined.
func (f *factor) reduces() bool { return f.kind == reduceFactor || f.combines }

// slid reports whether an operand is read by slides.
func (f *factor) slid(operand int) bool {
	return f.kind == slideFactor && f.operands[operand] >= 0 && f.slides[operand] != slide{}
}

// factored says how to read the factors of an op.
type factored func(in hlo.Instruction) []factor

// factorsOfOp is indexed by opcode. Files of op families fill it.
var factorsOfOp [hlo.NumOpcodes]factored

// factors are those of an instruction; ok is false for an op without.
func factors(in hlo.Instruction) (f []factor, ok bool) {
	if get := factorsOfOp[in.Opcode()]; get != nil {
		f = get(in)
		return f, len(f) > 0 || in.Shape().IsScalar()
	}
	if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise) {
		return elementwiseFactors(in), true
	}
	return nil, false
}

// elementwiseFactors: each dimension belongs to all arrays. Scalars beside arrays have none.
func elementwiseFactors(in hlo.Instruction) []factor {
	rank := leafRank(in.Shape())
	all := make([]factor, rank)
	for k := range all {
		all[k] = factor{kind: passFactor, operands: dimOfEach(in, k, func(i int) bool { return in.OperandInstr(i).Shape().Rank() == rank }), result: k}
	}
	return all
}

// leafRank is the rank of an array, or of the arrays of a tuple.
func leafRank(s hlo.Shape) int {
	if s.IsTuple() && s.NumElems() > 0 {
		return leafRank(s.Elem(0))
	}
	return s.Rank()
}

// dimOfEach is dimension k for the operands that take part.
func dimOfEach(in hlo.Instruction, k int, takesPart func(i int) bool) []int {
	dims := make([]int, in.NumOperands())
	for i := range dims {
		dims[i] = -1
		if takesPart(i) {
			dims[i] = k
		}
	}
	return dims
}

// along makes the factor of single dimensions of some operands.
func along(n int, kind factorKind, result int, dims ...[2]int) factor {
	f := factor{kind: kind, operands: make([]int, n), result: result}
	for i := range f.operands {
		f.operands[i] = -1
	}
	for _, d := range dims {
		f.operands[d[0]] = d[1]
	}
	return f
}

// sliding is the factor of a dimension of some operands along which the result is read by slides.
func sliding(n, result int, slides []slide, dims ...[2]int) factor {
	f := along(n, slideFactor, result, dims...)
	f.slides = make([]slide, n)
	for i, d := range dims {
		f.slides[d[0]] = slides[i]
	}
	return f
}
