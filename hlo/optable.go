package hlo

import "strconv"

// OpInfo is one row of the op table: everything that is true of an opcode, on whatever floor it is asked.
type OpInfo struct {
	Op   Opcode
	Name string // mnemonic
	Doc  string // one line
	// Arity bounds the number of operands; Max < 0 means any number.
	Arity Arity
	// NewAttrs makes the op's own attribute struct with default values; nil when the op has no attributes of its own.
	NewAttrs func() OpAttrs
	// Callees are the roles of the computations the op calls, in the order the instruction stores them.
	Callees []CalleeRole
	// Aliases are more names under which text may name callees.
	Aliases []CalleeAlias
	// CanInfer reports whether text may leave the result shape out.
	CanInfer bool
	// HasAccuracy reports whether the attribute result_accuracy is allowed.
	HasAccuracy bool
	Traits      Trait
	// Pair names the opcodes that begin and end the op, of each of them; the row of the one that begins spells it.
	Pair Pair
	// Match says how a stated result shape is compared with the inferred one; MatchRule is the rule that a difference breaks, GEN-06 when empty.
	Match     ShapeMatch
	MatchRule string
	// Work is the kind of cost.
	Work Work
	// Complex is what an elementwise op takes for a complex number; where it says nothing, that is the work on both parts.
	Complex ComplexWork
	// Shape computes the result shape from operands and attributes and checks their constraints. It is the verifier's op check too.
	Shape ShapeRule
}

// Arity is an inclusive range of operand counts; a negative Max means unbounded.
type Arity struct{ Min, Max int }

// Accepts reports whether n operands are within the range.
func (a Arity) Accepts(n int) bool { return n >= a.Min && (a.Max < 0 || n <= a.Max) }

// IsFixed reports whether exactly one count is accepted.
func (a Arity) IsFixed() bool { return a.Min == a.Max }

// String is the range in words: "2", "at least 1", "0 to 4".
func (a Arity) String() string {
	switch {
	case a.IsFixed():
		return strconv.Itoa(a.Min)
	case a.Max < 0:
		return "at least " + strconv.Itoa(a.Min)
	}
	return strconv.Itoa(a.Min) + " to " + strconv.Itoa(a.Max)
}

// CalleeRole is the name under which an op calls a computation, as text spells it.
type CalleeRole struct {
	Name     string
	List     bool // any number of computations, written in braces
	Optional bool
	// Print is the position among the op's roles when printed. XLA stores a while's body before its condition but prints the condition first.
	Print int
}

// CalleeAlias is a name by which text may name a callee although it is not printed so, and the callee's place among those of the instruction.
type CalleeAlias struct {
	Name  string
	Index int
	Full  bool // XLA names the callee so when it prints it in full
}

// Trait is a set of facts that passes ask for instead of listing opcodes.
type Trait uint32

// The traits.
const (
	TraitElementwise          Trait = 1 << iota // result element i depends on element i of each operand (scalar operands of select and clamp apart)
	TraitCommutative                            // the two operands may be exchanged
	TraitIdempotent                             // op(op(x)) == op(x)
	TraitSideEffect                             // must neither be removed nor duplicated even if its result is unused
	TraitCollective                             // communicates with other devices
	TraitControl                                // its callees are executed as computations of their own: call, while, conditional, async-start
	TraitApply                                  // its callee is applied to elements: reduce, map, sort, scatter, ...
	TraitMixesPrecision                         // floating operands may have different widths even where precision must not mix
	TraitAsyncStart                             // begins an asynchronous pair: async-start, all-reduce-start, copy-start, ...
	TraitAsyncDone                              // ends one
	TraitNotWrappable                           // cannot be the wrapped op of an async-start (parameter, constant and the async family)
	TraitMovesData                              // result elements are operand elements, moved or repeated, never computed
	TraitInPlace                                // may write its result over operand 0 even though it is not elementwise
	TraitNullaryValue                           // value depends on nothing but the instruction (constant, iota)
	TraitRandom                                 // result differs from run to run
	TraitTokens                                 // orders effects by tokens
	TraitForwards                               // its value is made of the operands' values, regrouped or as they are: nothing is computed
	TraitStays                                  // constant folding leaves it: it marks a place, or its value is not the compiler's to compute
	TraitFolds                                  // combines any number of elements in any order: commutative, associative but for rounding, with an identity
	TraitReindexes                              // each result element is the operand element at an index that is known from the shapes
	TraitCarriesAsync                           // an asynchronous value may go through it on the way from its start to its done
	TraitKeepsLayout                            // once layouts are assigned, operands and result have one; true of elementwise ops too
	TraitElementwiseSameWidth                   // elementwise if elements of the result are as wide as those of the operand
)

// Has reports whether all of want are in t.
func (t Trait) Has(want Trait) bool { return t&want == want }

// Info returns the row of op. For an invalid opcode it returns a row without a name.
func Info(op Opcode) *OpInfo {
	if int(op) >= NumOpcodes {
		op = OpInvalid
	}
	return &opTable[op]
}

// opTable is filled by init: a table initialised with rules that consult the table would be an initialization cycle.
var (
	opTable  [NumOpcodes]OpInfo
	opByName map[string]Opcode
)

func init() {
	opByName = make(map[string]Opcode, NumOpcodes)
	for _, family := range [][]OpInfo{
		elementwiseOps, dataOps, contractionOps, reductionOps, indexingOps, linalgOps, randomOps,
		controlOps, asyncOps, collectiveOps, communicationOps, customOps,
	} {
		for _, row := range family {
			if opTable[row.Op].Name != "" {
				panic("hlo: two rows for opcode " + row.Name)
			}
			opTable[row.Op] = row
			opByName[row.Name] = row.Op
		}
	}
	pairUp()
}

// exactly and atLeast are shorthand for the rows of the family files.
func exactly(n int) Arity { return Arity{n, n} }

func atLeast(n int) Arity { return Arity{n, -1} }

// oneCallee is the callee list of an op with a single computation.
func oneCallee(name string) []CalleeRole { return []CalleeRole{{Name: name}} }

// attrs makes a T with the defaults of its tags.
func attrs[T any, P interface {
	*T
	OpAttrs
}]() OpAttrs {
	v := P(new(T))
	if def := attrPlanOf(v).defaults; def != nil {
		*v = *def.(P)
	}
	return v
}
