package runtime

import (
	"sync"

	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/scalar"
)

// tensorFunction is the immutable plan of one tensor function: what the driver walks.
type tensorFunction struct {
	fn        *Function
	regs      []Register
	numArgs   int
	results   []int32 // register of each result
	argRegs   [][]int32
	outRegs   [][]int32
	copies    []resultCopy // results that are not computed in their place
	steps     []step
	runs      []TensorKernel // not nil: the steps are these and the return; see straight
	stretches []stretch      // of steps, for functions that run often
	link      sync.Once
	linked    []*scalarSteps  // in order, after link
	later     []laterSteps    // in order, after link
	segments  []tensorSegment // not empty: parts that run beside each other
	same      map[int32]int32 // registers that nothing computes, since they are another one's memory
	numSites  int
	numOps    int // async starts among the sites
	frame     int64
	forks     bool // it, or what it calls, has segments or async starts
	waits     bool // it, or what it calls, has steps during which nothing is computed
	events    bool // some register is a token, which may carry an async event

	// Sums over the activations that an instance of the function consists of, this one included and those of its async
	// callees too. They saturate at a limit that loading checks.
	totalRegs    int64
	scratch      int64 // largest scratch of the sequence that runs the function
	asyncScratch int64 // scratch of all sequences that async starts below begin
	kept         int64 // what is prepared for loops; each has memory of its own

	// lateFrom > 0 marks a variant for an async start that binds only the first lateFrom-1 arguments; it waits before
	// each first use of the others.
	lateFrom int

	parts int64 // see Update.Parts

	loader *segmentLoader // while loading
}

// resultCopy says that result i of a function has to be copied from a register when the function returns.
type resultCopy struct {
	result int
	reg    int32
}

type stepKind uint8

const (
	stepKernel stepKind = iota // run is set
	stepAsyncKernel
	stepReturn
	stepCall
	stepWhile
	stepConditional
	stepAsyncStart
	stepAsyncUpdate
	stepAsyncDone
	stepAwaitArgument // of an async callee whose operands are bound late
	stepNotify        // of a function with segments: some may begin
	stepSegmentEnd
)

// step is one instruction of the driver. What the driver reads of each plain kernel comes first: one line of the cache.
type step struct {
	run       TensorKernel // stepKernel only; tested first
	stretch   int          // if not 0, the stretch that begins here, counted from 1
	kind      stepKind
	evaluated bool
	kernel    int32 // index among the function's kernels; -1 for steps that no kernel stands for
	site      int32 // index among the activation's call sites, -1 if it has none
	argument  int32 // stepAwaitArgument
	in, out   []int32
	scratch   int64

	runAsync AsyncTensorKernel
	small    []SmallCall // the same as run, or nil
	later    func() LaterCalls
	prepare  *Preparation
	code     scalar.Code // the same as run, or nil
	differs  bool        // code may give other bits
	scalar   *scalarLoop // the same as a loop, or nil
	notices  []int32     // stepNotify, stepSegmentEnd: segments that wait for the step before
	prepares []int32     // stepWhile: steps of the body that are prepared when the loop begins
	control  *Control
	callees  []*tensorFunction
}

// The control kernels. The driver knows them; they are not in the registry.
const (
	kernelConstant    = "hlo.constant"
	kernelCall        = "hlo.call"
	kernelWhile       = "hlo.while"
	kernelConditional = "hlo.conditional"
	kernelAsyncStart  = "hlo.async-start"
	kernelAsyncUpdate = "hlo.async-update"
	kernelAsyncDone   = "hlo.async-done"
)

var controlKernels = map[string]stepKind{
	kernelCall:        stepCall,
	kernelWhile:       stepWhile,
	kernelConditional: stepConditional,
	kernelAsyncStart:  stepAsyncStart,
	kernelAsyncUpdate: stepAsyncUpdate,
	kernelAsyncDone:   stepAsyncDone,
}

// TensorControlKernels returns the names of the kernels that tensor functions may use without their being registered.
func TensorControlKernels() []string {
	return []string{kernelConstant, kernelCall, kernelWhile, kernelConditional, kernelAsyncStart, kernelAsyncUpdate, kernelAsyncDone}
}

// tensorType returns the type of a register.
func (r *Register) tensorType() TensorType { return TensorType{r.Type, r.Dims, r.Bytes} }

// argType and resultType give the signature of the function.
func (t *tensorFunction) argType(i int) TensorType    { return t.regs[i].tensorType() }
func (t *tensorFunction) resultType(i int) TensorType { return t.regs[t.results[i]].tensorType() }

// kernelName returns the name and location of the kernel behind a step, for messages.
func (t *tensorFunction) kernelName(s *step) (string, bef.Location) {
	if s.kernel < 0 {
		return "return", t.fn.Location()
	}
	k := &t.fn.def.Kernels[s.kernel]
	return t.fn.program.file.Kernels[k.Code], t.fn.program.file.Locations.At(k.Loc)
}
