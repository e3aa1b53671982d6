package hlo

// Columns of the op table that have types of their own.

// Pair names the opcodes of an op that is begun and ended by opcodes of its own.
type Pair struct {
	Plain Opcode // does the same in one step; OpInvalid of send and recv, which have no such form
	Start Opcode
	Done  Opcode
	// Result is the element of the start's value that becomes the done's; WholeResult when the value as a whole does.
	Result int
	// Context is the number of elements after operand and result: u32 scalars for the hardware's use.
	Context int
}

// WholeResult is the Result of pairs whose start has the shape of the plain op.
const WholeResult = -1

// IsZero reports whether there is no pair.
func (p Pair) IsZero() bool { return p.Start == OpInvalid }

// Begins reports whether op is the opcode that begins the work.
func (p Pair) Begins(op Opcode) bool { return op != OpInvalid && op == p.Start }

// Ends reports whether op is the opcode that waits for the work.
func (p Pair) Ends(op Opcode) bool { return op != OpInvalid && op == p.Done }

// ShapeMatch says how the verifier compares the result shape that is stated with the one that the shape rule infers.
type ShapeMatch uint8

// The ways of comparing.
const (
	MatchCompatible ShapeMatch = iota // equal but for layouts
	MatchOwn                          // not compared: the shape rule has checked the stated shape
	MatchExact                        // equal, layouts included where they count
	MatchOrder                        // as exact, but of layouts only the order of axes counts
	MatchInPlace                      // exact; inside fusions tiles and memory spaces are free
	MatchCopy                         // compatible; host memory has rules of its own
)

// Work says what an instruction costs to compute, in terms of its shapes and of what it calls. Package analysis makes numbers of it.
type Work uint8

// The kinds of work.
const (
	WorkTraffic     Work = iota // operands are read, the result is written
	WorkNone                    // nothing happens at run time
	WorkElements                // an operation for each element
	WorkFunctions               // an elementary function for each element
	WorkContraction             // a multiply-add for each element of the result and of the contracted axes
	WorkConvolution             // a multiply-add for each element of the result and of the window
	WorkPart                    // as much is read as is written, whatever the size of the operand
	WorkUpdate                  // operand 1 is written over a part of operand 0
	WorkFold                    // the callee runs for each element of operand 0
	WorkWindow                  // the callee runs for each element of the result and of the window
	WorkScatter                 // the callees run for each element of the last operand
	WorkSort                    // the callee runs n·log n times
	WorkFourier                 // 8·n·log n operations
	WorkSolve                   // n operations for each element of an n·n system
	WorkFused                   // what the callee computes; only operands and result are traffic
	WorkCall                    // what the callee takes
	WorkLoop                    // what the callees take, for each round
	WorkBranch                  // what the costliest callee takes
	WorkUnknown                 // HLO cannot know
)

// ComplexWork is what is computed of real numbers for a complex one: additions, multiplications and the like, and elementary functions.
type ComplexWork struct{ Flops, Functions int64 }

// HasNativeAsync reports whether op has asynchronous opcodes of its own, as copy has copy-start and copy-done, or is the beginning of such
// a pair as send is. Such an op has no sugared forms, since the words are taken, and async-start should not wrap it.
func HasNativeAsync(op Opcode) bool {
	p := Info(op).Pair
	return !p.IsZero() && (op == p.Plain || p.Plain == OpInvalid && p.Begins(op))
}

// pairUp gives all the opcodes of each pair the pair that the row of its start names.
func pairUp() {
	for op := range opTable {
		if p := opTable[op].Pair; p.Start == Opcode(op) && !p.IsZero() {
			opTable[p.Done].Pair = p
			if p.Plain != OpInvalid {
				opTable[p.Plain].Pair = p
			}
		}
	}
}
