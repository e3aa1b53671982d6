package verifier

import (
	"slices"
	"strings"
)

// Rule is a row of the rule table.
type Rule struct {
	ID string
	// The rule, in a sentence.
	What string
	// Option is the option without which the rule is not checked, or several with spaces between them; "" when it always is.
	Option string
	// InDoc says that profile doc checks the rule without its option, too.
	InDoc bool
	// Kind says who keeps the rule.
	Kind Kind
	// As is the rule that reports what breaks this one; "" when it has findings of its own.
	As string
	// Severity is that of its findings.
	Severity Severity
}

// Kind says who keeps a rule, and so how it can be broken.
type Kind uint8

// The kinds.
const (
	// Checked rules are checked by this package.
	Checked Kind = iota
	// ByReader: text can break the rule, and package hlo/parser refuses it with the rule's id.
	ByReader
	// ByDecoder: a serialized module can break the rule, and package hlo/proto refuses it with the rule's id.
	ByDecoder
	// ByConstruction: nothing can break the rule, since package hlo has no way to say it.
	ByConstruction
	// Covered rules follow from another rule, which always reports first: As.
	Covered
	// Permission rules say what is legal, so that it is not taken for a fault.
	Permission
	// Definition rules define a word of other rules.
	Definition
)

func (k Kind) String() string {
	return [...]string{"checked", "by the reader of text", "by the reader of serialized modules", "by construction", "covered", "permission", "definition"}[k]
}

// Rules returns the rule table, by group and number; the caller owns the slice.
func Rules() []Rule { return slices.Clone(rules) }

// RuleByID finds a row.
func RuleByID(id string) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// Level is a set of groups of rules, for those who want to look at one concern.
type Level uint8

// The levels. The zero Level means all.
const (
	LevelStructure Level = 1 << iota // modules, graphs and names
	LevelShape                       // ops: operands, attributes, shapes, shardings, the entry layout
	LevelLayout                      // layouts and memory spaces
	LevelSchedule                    // schedules and deadlocks
	LevelAsync                       // chains, pairs, channels
	LevelAlias                       // aliases, donors, buffers

	allLevels = LevelStructure | LevelShape | LevelLayout | LevelSchedule | LevelAsync | LevelAlias
)

// levelNames are the levels in the order of their bits.
var levelNames = []string{"structure", "shape", "layout", "schedule", "async", "alias"}

func (l Level) String() string {
	var names []string
	for i, name := range levelNames {
		if l == 0 || l&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// levelOfGroup is the level of the rules whose ids begin so; those not named are about shapes.
var levelOfGroup = map[string]Level{
	"MOD": LevelStructure, "STR": LevelStructure, "NAME": LevelStructure,
	"LAY": LevelLayout, "MEM": LevelLayout,
	"SCH": LevelSchedule, "DEAD": LevelSchedule,
	"ASYNC": LevelAsync, "PAIR": LevelAsync, "CHAN": LevelAsync,
	"ALI": LevelAlias, "DON": LevelAlias, "BUF": LevelAlias,
}

// levelOfRule has the rules that are of another level than their group.
var levelOfRule = map[string]Level{
	"HALO-RECURSION": LevelStructure, "HALO-PARAMETERS": LevelStructure, "GEN-04": LevelLayout, "GEN-08": LevelLayout, "SHP-09": LevelLayout,
	"SHP-12": LevelLayout, "SHP-13": LevelLayout, "MISC-01": LevelLayout, "CC-01": LevelLayout, "FUS-10": LevelAlias, "CC-02": LevelAlias,
	"CC-03": LevelAlias, "ENT-05": LevelAlias, "HALO-DEADLOCK": LevelSchedule, "HALO-TRANSFER": LevelAsync,
}

// Level is the level that the rule belongs to.
func (r Rule) Level() Level { return levelOf(r.ID) }

func levelOf(id string) Level {
	if l, ok := levelOfRule[id]; ok {
		return l
	}
	group, _, _ := strings.Cut(id, "-")
	if l, ok := levelOfGroup[group]; ok {
		return l
	}
	return LevelShape
}

var rules = []Rule{
	// modules and graphs
	{ID: "MOD-01", What: "a module has a name"},
	{ID: "MOD-02", What: "the entry computation exists and is not the inside of a fusion"},
	{ID: "STR-01", What: "no computation is missing", Kind: ByDecoder},
	{ID: "STR-02", What: "computations belong to the module that lists them, once", Kind: ByDecoder},
	{ID: "STR-03", What: "no instruction is missing, the root of a computation least of all"},
	{ID: "STR-04", What: "instructions belong to the computation that lists them, once", Kind: ByDecoder},
	{ID: "STR-05", What: "no operand is missing", Kind: ByDecoder},
	{ID: "STR-06", What: "operands belong to a computation", Kind: ByConstruction},
	{ID: "STR-07", What: "operands and control predecessors are of the same computation", Kind: ByDecoder},
	{ID: "STR-08", What: "operands and control edges form no cycle"},
	{ID: "HALO-RECURSION", What: "no computation calls itself, directly or through others"},
	{ID: "HALO-PARAMETERS", What: "parameters of a computation are numbered without gaps"},
	{ID: "HALO-BROADCAST", What: "broadcast sends each axis to one of its own"},
	{ID: "HALO-DEFINED", What: "ops are defined on the types and sizes of their operands", Option: "verify-defined", InDoc: true},
	{ID: "HALO-BATCHING", What: "batching axes of gather and scatter have no other role, and the sizes of their partners", Option: "verify-batching-axes", InDoc: true},
	{ID: "HALO-TOKENS", What: "after-all takes tokens", Severity: SeverityWarning},
	{ID: "HALO-EFFECTS", What: "what is applied to elements has no side effects", Severity: SeverityWarning},
	{ID: "HALO-SCALARS", What: "what is applied to elements is made of scalars", Severity: SeverityWarning},
	{ID: "HALO-REPLACED", What: "the written shape of an op that has but one is that one; others are replaced", Kind: ByReader, Severity: SeverityWarning},
	{ID: "HALO-RNG", What: "random states are u64[2], or u64[3] except for rng_three_fry, and come with bits of numbers", Option: "verify-rng-state", InDoc: true},
	{ID: "HALO-REDUCER", What: "all-reduce and reduce-scatter combine two scalars of their elements' type into one", Option: "verify-reducer-signatures"},
	{ID: "HALO-TRANSFER", What: "send and recv take a token last", Option: "verify-transfer-tokens"},
	{ID: "HALO-GROUPS", What: "the groups of collective-broadcast name devices that exist, each once", Option: "verify-collective-groups"},
	{ID: "HALO-CHANNEL", What: "the channel of all-reduce-start is positive", Option: "verify-collective-groups"},
	{ID: "HALO-DEADLOCK", What: "no all-reduce or reduce-scatter stands between a send and its recv", Option: "deadlocks verify-reduction-deadlocks"},
	{ID: "NAME-01", What: "names of instructions are unique in the module", Kind: ByConstruction},
	{ID: "NAME-02", What: "an instruction is called as its metadata says the schedule called it, unless it is a clone or a rematerialisation", Option: "verify-instruction-name-unchanged"},

	// every op
	{ID: "GEN-01", What: "only ops that call computations have called computations"},
	{ID: "GEN-02", What: "the number of operands is what the op takes"},
	{ID: "GEN-03", What: "no dimension is unbounded, unless the target says it can deal with that"},
	{ID: "GEN-04", What: "a layout orders as many axes as the array has"},
	{ID: "GEN-05", What: "all floating operands of an op have one type, but for ops that are about several"},
	{ID: "GEN-06", What: "the written shape is the inferred one"},
	{ID: "GEN-07", What: "dynamic-update-slice has the shape of the array it updates, layout included in layout-sensitive mode"},
	{ID: "GEN-08", What: "a copy to or from host memory keeps the element type, and from it the layout too", Option: "layout-sensitive"},
	{ID: "GEN-09", What: "operands and attributes are such that the result shape can be inferred"},

	// elementwise
	{ID: "ELT-01", What: "rounding functions, cbrt and erf take floating elements"},
	{ID: "ELT-02", What: "analytic functions take floating or complex elements"},
	{ID: "ELT-03", What: "real and imag take floating or complex elements"},
	{ID: "ELT-04", What: "abs takes signed, floating or complex elements; of complex ones it gives the modulus"},
	{ID: "ELT-05", What: "sign takes signed, floating or complex elements"},
	{ID: "ELT-06", What: "negate takes numbers, bit counts take integers, not takes integers or pred, is-finite takes floating elements"},
	{ID: "ELT-07", What: "the operands of a binary op have one element type"},
	{ID: "ELT-08", What: "arithmetic and shifts do not take pred"},
	{ID: "ELT-09", What: "and, or, xor take pred or integers"},
	{ID: "ELT-10", What: "atan2 takes floating or complex elements"},
	{ID: "ELT-11", What: "complex takes two f32 or two f64"},
	{ID: "ELT-12", What: "operands of elementwise ops have the dimensions of the result: broadcasts are written"},
	{ID: "ELT-13", What: "floating operands are compared as FLOAT or in TOTALORDER"},
	{ID: "ELT-14", What: "other operands are compared as their type says"},
	{ID: "ELT-15", What: "the bounds of clamp are scalars or of the shape of its operand"},
	{ID: "ELT-16", What: "select takes a pred, scalar or of the shape of its two arrays, and never tuples"},
	{ID: "ELT-17", What: "conversions are between arrays of fitting types and sizes"},
	{ID: "ELT-18", What: "result_accuracy stands on elementary functions only"},

	// data movement
	{ID: "SHP-01", What: "broadcast keeps the element type"},
	{ID: "SHP-02", What: "broadcast names a result axis for each operand axis"},
	{ID: "SHP-03", What: "the axes that broadcast names exist"},
	{ID: "SHP-04", What: "broadcast keeps the sizes of the operand's axes"},
	{ID: "SHP-05", What: "the axes that broadcast names ascend", Option: "verify-broadcast-dimensions-order"},
	{ID: "SHP-06", What: "reshape keeps the element type"},
	{ID: "SHP-07", What: "reshape keeps the number of elements"},
	{ID: "SHP-08", What: "dynamic-reshape keeps type and bounds, with an s32 size for each dimension"},
	{ID: "SHP-09", What: "a reshape outside of fusions moves no bytes", Option: "verify-reshape-is-bitcast"},
	{ID: "SHP-10", What: "transpose names each axis once"},
	{ID: "SHP-11", What: "transpose has the operand's sizes in the new order"},
	{ID: "SHP-12", What: "bitcast keeps the number of bytes", Option: "layout-sensitive"},
	{ID: "SHP-13", What: "bitcast does not cross into or out of host memory, but for constants", Option: "layout-sensitive"},
	{ID: "SHP-14", What: "concatenated arrays agree in all axes but the one they are joined along"},
	{ID: "SHP-15", What: "pad has three numbers for each axis, none of which takes more than there is"},
	{ID: "SHP-16", What: "slice stays within its operand and goes forward"},
	{ID: "SHP-17", What: "dynamic-slice has an integral index for each axis and sizes within the operand"},
	{ID: "SHP-18", What: "dynamic-update-slice has an integral index for each axis and an update that fits"},
	{ID: "SHP-19", What: "reverse names axes that exist, each once"},
	{ID: "SHP-20", What: "the dimension numbers of gather and scatter fit their operands"},
	{ID: "SHP-21", What: "scatter names operand axes that exist", Kind: Covered, As: "SHP-20"},
	{ID: "IOTA-01", What: "iota makes an array"},
	{ID: "IOTA-02", What: "iota does not make a scalar"},
	{ID: "IOTA-03", What: "the axis along which iota counts exists"},
	{ID: "IOTA-04", What: "iota makes numbers"},
	{ID: "CST-01", What: "a constant has a value"},
	{ID: "CST-02", What: "a constant has the shape of its value"},
	{ID: "DYN-01", What: "get-dimension-size asks for an axis that exists, and gives an s32"},
	{ID: "DYN-02", What: "set-dimension-size sets an axis that exists to an s32 scalar"},
	{ID: "DYN-03", What: "set-dimension-size keeps the bounds of its operand"},

	// contractions and linear algebra
	{ID: "DOT-01", What: "the axes that dot names exist"},
	{ID: "DOT-02", What: "no axis of dot has two roles"},
	{ID: "DOT-03", What: "contracted and batch axes pair up, with equal sizes"},
	{ID: "DOT-04", What: "a contraction may have any element type", Kind: Permission},
	{ID: "RDOT-01", What: "ragged-dot has one ragged axis in its left operand"},
	{ID: "RDOT-02", What: "ragged-dot has one group axis exactly if its ragged axis is free"},
	{ID: "RDOT-03", What: "group sizes are one list, or one for each index before the ragged axis"},
	{ID: "SDOT-01", What: "scaled-dot has four operands"},
	{ID: "SDOT-02", What: "a scale has the rank of its operand, unless it stands for none"},
	{ID: "SDOT-03", What: "a scaled operand has one contracted axis"},
	{ID: "SDOT-04", What: "sizes of an operand are multiples of those of its scale"},
	{ID: "SDOT-05", What: "not both scales are scalars"},
	{ID: "SDOT-06", What: "scaled-dot has the shape of the dot of its first two operands"},
	{ID: "CNV-01", What: "window, labels and group counts of a convolution fit its operands"},
	{ID: "CNV-02", What: "sparse operands of a convolution have positions of their own"},
	{ID: "LIN-01", What: "fft takes one to three axes of the right type and sizes"},
	{ID: "LIN-02", What: "cholesky and triangular-solve take square matrices that fit"},

	// computations on elements
	{ID: "RED-01", What: "reduce has as many initial values as inputs"},
	{ID: "RED-02", What: "a reducer takes an accumulator and a value for each input"},
	{ID: "RED-03", What: "a reducer returns a scalar for each input"},
	{ID: "RED-04", What: "a reducer returns what it takes as accumulators"},
	{ID: "RED-05", What: "initial values and inputs have the types that the reducer takes"},
	{ID: "RED-06", What: "reduced axes exist, each once, and all inputs have the same dimensions"},
	{ID: "RED-07", What: "operands have exactly the element types of the parameters of to_apply, unless precision may mix"},
	{ID: "RED-08", What: "map applies a scalar computation to arrays of the same dimensions"},
	{ID: "RED-09", What: "the axes that map lists are not looked at", Kind: Permission},
	{ID: "RED-10", What: "the window of reduce-window fits its inputs"},
	{ID: "RED-11", What: "select-and-scatter selects by a comparison, and has a source value for each window"},
	{ID: "RED-12", What: "sort has operands"},
	{ID: "RED-13", What: "a comparator returns a pred"},
	{ID: "RED-14", What: "a comparator takes two values for each operand of sort"},
	{ID: "RED-15", What: "a comparator takes scalars of the operands' types"},
	{ID: "RED-16", What: "all operands of sort have the same dimensions"},
	{ID: "RED-17", What: "the sorted axis exists"},
	{ID: "RED-18", What: "topk finds no more than there is"},
	{ID: "RED-19", What: "inputs, outputs and carries of scan fit its computation"},
	{ID: "RED-20", What: "scans that are left after layout assignment are associative", Option: "layout-sensitive"},
	{ID: "RNG-01", What: "rng has two parameters of its distribution"},
	{ID: "RNG-02", What: "the parameters of rng are scalars"},
	{ID: "RNG-03", What: "rng gives what its parameters are"},
	{ID: "RNG-04", What: "uniform numbers are floating, integers or pred"},
	{ID: "RNG-05", What: "normal numbers are floating"},
	{ID: "RNG-06", What: "rng has a distribution"},
	{ID: "RNG-07", What: "rng-bit-generator gives a state and bits"},
	{ID: "RNG-08", What: "rng-bit-generator gives a state like the one it takes"},
	{ID: "RNG-09", What: "rng-get-and-update-state gives u64[2]"},
	{ID: "RNG-10", What: "the custom-call GetRngSeed takes nothing and gives a u64"},

	// calls and control flow
	{ID: "CALL-01", What: "call passes as many operands as its computation takes"},
	{ID: "CALL-02", What: "the operands of call are what its computation takes"},
	{ID: "CALL-03", What: "call gives what its computation returns"},
	{ID: "CALL-04", What: "a composite call is described by its frontend attributes"},
	{ID: "CALL-05", What: "call has no aliasing", Kind: ByReader},
	{ID: "WHL-01", What: "the condition of while takes one value"},
	{ID: "WHL-02", What: "the body of while takes one value"},
	{ID: "WHL-03", What: "while has one operand"},
	{ID: "WHL-04", What: "condition and body take what while is given"},
	{ID: "WHL-05", What: "the condition of while returns a pred"},
	{ID: "WHL-06", What: "while gives what its body returns"},
	{ID: "WHL-07", What: "the shardings around a while agree"},
	{ID: "CND-01", What: "the selector of conditional is a scalar"},
	{ID: "CND-02", What: "a pred selects between two branches"},
	{ID: "CND-03", What: "the selector of conditional is a pred or an s32"},
	{ID: "CND-04", What: "conditional has an operand for each branch"},
	{ID: "CND-05", What: "a branch takes one value"},
	{ID: "CND-06", What: "a branch takes what its operand is"},
	{ID: "CND-07", What: "conditional gives what every branch returns"},
	{ID: "CND-08", What: "the shardings around a conditional agree"},
	{ID: "FUS-01", What: "a fusion has one computation, which no other fusion has"},
	{ID: "FUS-02", What: "a fusion gives what its computation returns"},
	{ID: "FUS-03", What: "a fusion has at least as many operands as its computation takes"},
	{ID: "FUS-04", What: "the operands of a fusion are what its computation takes"},
	{ID: "FUS-05", What: "a fused computation lists its root and parameters once", Kind: Covered, As: "STR-04"},
	{ID: "FUS-06", What: "the root of a fused computation is not used in it"},
	{ID: "FUS-07", What: "everything else in a fused computation is used, or has an effect"},
	{ID: "FUS-08", What: "nothing outside uses what is fused", Kind: Covered, As: "STR-07"},
	{ID: "FUS-09", What: "the parameters of a fused computation are numbered without gaps"},
	{ID: "FUS-10", What: "aliases of a fusion name parts that exist and are the same"},
	{ID: "CC-01", What: "constrained operand layouts of a custom-call fit its operands"},
	{ID: "CC-02", What: "aliases of a custom-call name parts that exist"},
	{ID: "CC-03", What: "aliased parts of a custom-call are the same"},
	{ID: "TUP-01", What: "tuple has the tuple of its operands' shapes"},
	{ID: "TUP-02", What: "get-tuple-element takes a tuple"},
	{ID: "TUP-03", What: "the tuple has the element that get-tuple-element asks for"},
	{ID: "BAR-01", What: "opt-barrier has the shape of its operand"},
	{ID: "THR-01", What: "while, conditional and fusion call computations of their own thread"},
	{ID: "THR-02", What: "an async op and its computation are on one thread", Kind: Covered, As: "ASYNC-05"},
	{ID: "THR-03", What: "call and custom-call call computations of their own thread", Option: "verify-call-nested-computation-thread-name"},
	{ID: "THR-04", What: "a to_apply is on the thread of its caller", Option: "verify-call-nested-computation-thread-name"},
	{ID: "TOK-01", What: "infeed takes a token"},
	{ID: "TOK-02", What: "infeed gives data and a token"},
	{ID: "TOK-03", What: "outfeed takes a token after its data"},
	{ID: "TOK-04", What: "outfeed says of what shape its data is"},
	{ID: "TOK-05", What: "add-dependency takes a value and a token, and gives the value"},
	{ID: "TOK-06", What: "after-all gives a token, partition-id and replica-id give u32[]"},

	// collectives
	{ID: "COLL-01", What: "global device ids need a channel"},
	{ID: "REPL-01", What: "no replica group is empty"},
	{ID: "REPL-02", What: "replica groups name ids below their number"},
	{ID: "REPL-03", What: "replica groups name each id once"},
	{ID: "REPL-04", What: "replica groups name all replicas"},
	{ID: "REPL-05", What: "partition groups name all partitions"},
	{ID: "REPL-06", What: "groups of global ids name all devices"},
	{ID: "REPL-07", What: "global ids need groups"},
	{ID: "REPL-08", What: "replica groups have one size, except for all-reduce"},
	{ID: "COLL-02", What: "all-gather joins arrays along an axis that exists"},
	{ID: "COLL-03", What: "all-gather of several arrays gives a tuple of as many"},
	{ID: "COLL-04", What: "all-gather-start gives inputs and outputs"},
	{ID: "COLL-05", What: "all-gather joins as many parts as the groups are large"},
	{ID: "COLL-06", What: "all-gather makes all arrays longer by the same factor"},
	{ID: "COLL-07", What: "all-gather-done gives the outputs of its start"},
	{ID: "COLL-08", What: "all-reduce takes arrays and gives the same shapes, all-reduce-start too"},
	{ID: "COLL-09", What: "all-reduce-done gives what its start gives"},
	{ID: "COLL-10", What: "the channel of an all-reduce is positive"},
	{ID: "COLL-11", What: "reduce-scatter cuts arrays along an axis that exists"},
	{ID: "COLL-12", What: "reduce-scatter cuts as many parts as the groups are large"},
	{ID: "COLL-13", What: "reduce-scatter cuts equal parts"},
	{ID: "COLL-14", What: "all-to-all cuts its array in as many equal parts as the groups are large"},
	{ID: "COLL-15", What: "all-to-all of pieces has a piece for each member of a group"},
	{ID: "COLL-16", What: "the pieces of all-to-all are of one shape"},
	{ID: "COLL-17", What: "ragged-all-to-all takes six operands and gives the second"},
	{ID: "COLL-18", What: "offsets and sizes of ragged-all-to-all are of rank 1 or 2"},
	{ID: "COLL-19", What: "offsets and sizes of ragged-all-to-all are of one shape"},
	{ID: "COLL-20", What: "collective-broadcast takes an array and gives its shape"},
	{ID: "CPERM-01", What: "the sources of collective-permute are devices"},
	{ID: "CPERM-02", What: "the targets of collective-permute are devices"},
	{ID: "CPERM-03", What: "no device is source twice"},
	{ID: "CPERM-04", What: "no device is target twice"},
	{ID: "CPERM-05", What: "a collective-permute into given buffers has inputs, outputs and offsets that pair up"},
	{ID: "CPERM-06", What: "such an offset has an index for each axis of its buffer"},
	{ID: "CPERM-07", What: "collective-permute keeps shapes; its done gives the outputs of its start"},

	// layouts, memory, shardings
	{ID: "LAY-01", What: "ops that hand values on keep their layouts", Option: "layout-sensitive"},
	{ID: "LAY-02", What: "ops that may not change layouts do not", Option: "layout-sensitive"},
	{ID: "MEM-01", What: "slices and copies do not take data out of fast memory", Option: "layout-sensitive"},
	{ID: "MEM-02", What: "dynamic-slice does not move data from the device to the host", Option: "layout-sensitive"},
	{ID: "MEM-03", What: "dynamic-update-slice does not move data from the host to the device", Option: "layout-sensitive"},
	{ID: "MEM-04", What: "nothing lies in host memory", Option: "verify-no-host-memory-space"},
	{ID: "SHD-01", What: "tuples have tuple shardings, and nothing else has"},
	{ID: "SHD-02", What: "a tuple sharding has an entry for each leaf"},
	{ID: "SHD-03", What: "replicated, manual, unreduced and unknown shardings fit everything", Kind: Permission},
	{ID: "SHD-04", What: "a maximal sharding names one device that exists"},
	{ID: "SHD-05", What: "a tiled sharding has several devices", Kind: ByReader},
	{ID: "SHD-06", What: "a tiled sharding has a tile dimension for each axis"},
	{ID: "SHD-07", What: "a tiled sharding names devices that exist, each once"},
	{ID: "SHD-08", What: "a sharding names as many devices as there are partitions, when there are several"},

	// buffers
	{ID: "BUF-01", What: "the custom-call Pin makes a buffer of one array, and says so by an alias"},
	{ID: "BUF-02", What: "the custom-call CreateBuffer makes a buffer of nothing"},
	{ID: "BUF-03", What: "the custom-call Unpin makes an array of one buffer, and says so by an alias"},
	{ID: "BUF-04", What: "a buffer that goes into a custom-call comes out of it"},
	{ID: "BUF-05", What: "a buffer that comes out of a custom-call went into it"},
	{ID: "BUF-06", What: "a buffer that a custom-call makes has one writer"},
	{ID: "BUF-07", What: "a buffer of a loop, a parameter or an update has one writer"},
	{ID: "BUF-08", What: "who writes a buffer: calls, loops, conditionals, fusions and updates that use it", Kind: Definition},
	{ID: "BUF-09", What: "the entry computation takes no buffers"},
	{ID: "BUF-10", What: "dynamic-update-slice of a buffer gives a buffer", Kind: Covered, As: "GEN-07"},
	{ID: "BUF-11", What: "async ops and calls on a stream of their own may have buffers", Kind: Permission},
	{ID: "BUF-12", What: "of a computation that runs asynchronously, only a custom-call at the root is looked at", Kind: Definition},
	{ID: "BUF-13", What: "no other op has buffers"},

	// the interface of the module
	{ID: "ENT-01", What: "the shapes of the entry computation layout are valid"},
	{ID: "ENT-02", What: "the entry computation returns what its layout says"},
	{ID: "ENT-03", What: "the entry computation takes as many parameters as its layout says"},
	{ID: "ENT-04", What: "the entry computation takes what its layout says"},
	{ID: "ENT-05", What: "results that must alias a parameter have its shape and memory space"},
	{ID: "ALI-01", What: "aliased parameters exist"},
	{ID: "ALI-02", What: "aliased parts exist"},
	{ID: "ALI-03", What: "aliased parts are arrays"},
	{ID: "ALI-04", What: "aliased parts have one size", Option: "layout-sensitive"},
	{ID: "ALI-05", What: "no part of a parameter is aliased twice"},
	{ID: "ALI-06", What: "no part of the result is aliased twice"},
	{ID: "DON-01", What: "donated parts of parameters exist"},
	{ID: "DON-02", What: "donated parts are arrays"},
	{ID: "DON-03", What: "what is aliased is not donated too"},
	{ID: "MISC-01", What: "either all all-reduces of a module constrain layouts or none does"},
	{ID: "MISC-02", What: "an original value has the tuple structure of the shape"},

	// asynchronous chains
	{ID: "ASYNC-01", What: "async-start and async-update have the shape ((operands), result, context...)"},
	{ID: "ASYNC-02", What: "element 0 of that lists the first parameters of the computation"},
	{ID: "ASYNC-03", What: "element 1 is (), or begins like the result of the computation"},
	{ID: "ASYNC-04", What: "async-done gives the whole result of the computation"},
	{ID: "ASYNC-05", What: "an async-start and its computation are on one thread"},
	{ID: "ASYNC-06", What: "async-start has an operand for each shape in element 0"},
	{ID: "ASYNC-07", What: "the operands of async-start have the shapes in element 0"},
	{ID: "ASYNC-08", What: "async-update has operands"},
	{ID: "ASYNC-09", What: "async-update continues an async-start or async-update"},
	{ID: "ASYNC-10", What: "an update or done that names a computation names the one its chain runs, or an equal one"},
	{ID: "ASYNC-11", What: "async-update keeps the operands that are bound"},
	{ID: "ASYNC-12", What: "async-update keeps the part of the result that is bound"},
	{ID: "ASYNC-13", What: "async-update has a new operand for each shape it adds"},
	{ID: "ASYNC-14", What: "the new operands of async-update have the shapes it adds"},
	{ID: "ASYNC-15", What: "async-done has one operand"},
	{ID: "ASYNC-16", What: "async-done ends an async-start or async-update", Kind: Covered, As: "ASYNC-22"},
	{ID: "ASYNC-17", What: "all operands are bound when async-done comes"},
	{ID: "ASYNC-18", What: "aliases of async-start name parts of parameters and result that are the same"},
	{ID: "ASYNC-19", What: "aliases of async-update are between contexts"},
	{ID: "ASYNC-20", What: "async-update takes an asynchronous value first, and no second one"},
	{ID: "ASYNC-21", What: "asynchronous values go to updates, dones, tuples and control flow only"},
	{ID: "ASYNC-22", What: "async-done can be traced back to a start"},
	{ID: "ASYNC-23", What: "that start is an async-start"},
	{ID: "ASYNC-24", What: "an async-update is part of one chain, and of no circle"},
	{ID: "ASYNC-25", What: "one async-done ends an async-start"},
	{ID: "ASYNC-26", What: "an async-done ends each async-start, or a loop carries it on"},
	{ID: "ASYNC-27", What: "each async-update leads to an async-done, or a loop carries it on"},
	{ID: "ASYNC-28", What: "an async-update on the way back from a done has operands"},
	{ID: "ASYNC-29", What: "async-done has one operand", Kind: Covered, As: "ASYNC-15"},
	{ID: "ASYNC-30", What: "what runs asynchronously on the main thread is one op, a marked group of collectives, or a barrier"},
	{ID: "ASYNC-31", What: "a computation that runs asynchronously is called by async ops only"},
	{ID: "ASYNC-32", What: "an async-done is not continued", Kind: ByReader},
	{ID: "ASYNC-33", What: "sugared steps name the op, thread and computation of their chain", Kind: ByReader},
	{ID: "ASYNC-S1", What: "in profile doc, each async-start and async-update has one user: its update or done"},
	{ID: "ASYNC-S3", What: "in profile doc, async-update keeps the elements of the context of its operand; a change of their shape is worth a warning"},
	{ID: "ASYNC-S2", What: "in profile doc, ops with asynchronous opcodes of their own are not wrapped"},
	{ID: "PAIR-01", What: "one instruction uses a start"},
	{ID: "PAIR-02", What: "that is its done, or hands it on to it"},
	{ID: "PAIR-03", What: "one instruction uses a send or recv: its done, or what hands it on"},
	{ID: "PAIR-04", What: "the done of a collective ends a start of the same collective"},
	{ID: "PAIR-05", What: "copy-done ends a copy-start, without anything in between"},
	{ID: "PAIR-06", What: "send-done and recv-done end a send and recv, perhaps out of a tuple"},
	{ID: "PAIR-07", What: "copy-start gives destination, source and context"},
	{ID: "PAIR-08", What: "copy-done gives the destination, which is like the source"},
	{ID: "PAIR-09", What: "send and recv give data, context and token"},
	{ID: "PAIR-10", What: "send-done gives a token, recv-done data and a token"},
	{ID: "CHAN-01", What: "a send or recv on a channel has one user"},
	{ID: "CHAN-02", What: "a transfer and its done are on one channel"},
	{ID: "CHAN-03", What: "a transfer and its done agree on whether the host is the partner"},
	{ID: "CHAN-04", What: "transfers that go through tuples are not compared", Kind: Permission},
	{ID: "CHAN-05", What: "transfers of one channel to the host differ in operands only"},
	{ID: "CHAN-06", What: "dones on a channel have one operand", Kind: Covered, As: "GEN-02"},

	// schedules
	{ID: "SCH-01", What: "there are enough sequences for the computations", Kind: Covered, As: "SCH-02"},
	{ID: "SCH-02", What: "every live computation of a scheduled module is scheduled"},
	{ID: "SCH-03", What: "no instruction is scheduled twice", Kind: ByDecoder},
	{ID: "SCH-04", What: "every instruction is scheduled", Kind: ByDecoder},
	{ID: "SCH-05", What: "operands are scheduled before their users"},
	{ID: "SCH-06", What: "control predecessors are scheduled before their successors"},
	{ID: "DEAD-01", What: "transfers between devices say between which", Option: "deadlocks"},
	{ID: "DEAD-02", What: "the pairs of a transfer form no circle", Option: "deadlocks"},
	{ID: "DEAD-03", What: "the pairs of a transfer have different sources and different targets", Option: "deadlocks"},
	{ID: "DEAD-04", What: "while a recv is awaited, no send conflicts with the pending ones", Option: "deadlocks"},
	{ID: "DEAD-05", What: "while a send is awaited, no recv conflicts with the pending ones", Option: "deadlocks"},
	{ID: "DEAD-06", What: "no collective stands between a send and its recv", Option: "deadlocks"},
	{ID: "DEAD-07", What: "every send has met its recv at the end", Option: "deadlocks"},
	{ID: "DEAD-08", What: "every recv has met its send at the end", Option: "deadlocks"},
	{ID: "DEAD-09", What: "sends and recvs at the end match each other", Option: "deadlocks"},
}
