package verifier

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Verify checks a module and returns everything it found, nothing for a good one: what concerns the module as a whole first, then by place
// in the text.
func Verify(m hlo.Module, cfg Config) ErrorList {
	if m.IsZero() {
		return ErrorList{{Rule: "MOD-01", Msg: "there is no module"}}
	}
	r := newRun(m, cfg)
	r.phases()
	slices.SortStableFunc(r.found, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return r.found
}

func (r *run) phases() {
	r.module()
	if !r.structure() {
		return // nothing else is safe to walk
	}
	r.pairs()
	r.channels()
	r.chains()
	r.instructions()
	r.promises()
	r.buffers()
	r.entry()
	r.schedule()
	r.aliases()
	r.donors()
}

// run is the state of one verification.
type run struct {
	cfg   Config
	m     hlo.Module
	found ErrorList

	signatures []hlo.ProgramShape // by CompID, made on demand
	linked     []hlo.Instruction  // members of pairs and chains, in module order
	callers    []hlo.Instruction  // instructions that call computations, in module order
	fused      []bool             // by CompID: body of a fusion
	applied    []bool             // by CompID: looked at as a reducer or the like
	async      []asyncBody        // by CompID: what starts it
	bad        map[place]bool     // instructions with errors
	tainted    map[place]bool     // instructions that continue one of those

	ctx      hlo.ShapeContext // of the instruction at hand
	operands []hlo.Shape
	callees  []hlo.ProgramShape

	traces   map[traceKey]bool // searches that led nowhere
	paths    map[pathKey]pathID
	pathKeys []pathKey // by pathID-1
	loopsOf  map[hlo.CompID]loops

	heads map[place]hlo.CompID // what the head of the chain of an update or done calls; NoComp: no head

	compared map[[2]hlo.CompID]bool // computations found to be equivalent, or not

	hostTransfers map[int64]hlo.Instruction // the first send or recv of each channel to the host

	hasBuffers        bool
	layoutConstrained [2]hlo.Instruction // an all-reduce without and one with constrained layout
}

// place names an instruction in the module.
type place struct {
	comp  hlo.CompID
	instr hlo.InstrID
}

func placeOf(in hlo.Instruction) place { return place{in.Computation().ID(), in.ID()} }

// asyncBody is what is known of a computation that runs asynchronously.
type asyncBody struct {
	starts int // async-starts that call it
	start  hlo.Instruction
}

func newRun(m hlo.Module, cfg Config) *run {
	n := m.CompIDLimit()
	r := &run{
		cfg: cfg, m: m, signatures: make([]hlo.ProgramShape, n), fused: make([]bool, n), applied: make([]bool, n), async: make([]asyncBody, n),
		bad: make(map[place]bool), tainted: make(map[place]bool), heads: make(map[place]hlo.CompID),
	}
	if r.cfg.CanChangeLayout == nil {
		r.cfg.CanChangeLayout = defaultCanChangeLayout
	}
	if r.cfg.ShapeSize == nil {
		r.cfg.ShapeSize = denseSize
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if op := in.Opcode(); inPair[op] || hlo.IsAsync(op) {
				r.linked = append(r.linked, in)
			}
			if in.NumCallees() == 0 {
				continue
			}
			r.callers = append(r.callers, in)
			for i := range in.NumCallees() {
				id := in.Callee(i)
				switch in.Opcode() {
				case hlo.OpFusion:
					r.fused[id] = true
				case hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAsyncDone:
					a := &r.async[id]
					if in.Opcode() == hlo.OpAsyncStart || a.start.IsZero() {
						a.start = in
					}
					if in.Opcode() == hlo.OpAsyncStart {
						a.starts++
					}
				}
			}
		}
	}
	return r
}

// calls yields the instructions of c that call computations.
func calls(c hlo.Computation) func(func(hlo.Instruction) bool) {
	return func(yield func(hlo.Instruction) bool) {
		for in := range c.Instructions() {
			if in.NumCallees() > 0 && !yield(in) {
				return
			}
		}
	}
}

func (r *run) isAsyncBody(id hlo.CompID) bool { return !r.async[id].start.IsZero() }

// signature is the shapes of parameters and result of a computation.
func (r *run) signature(id hlo.CompID) hlo.ProgramShape {
	s := &r.signatures[id]
	if !s.Result.IsValid() {
		*s = r.m.MustComputation(id).Signature()
	}
	return *s
}

// report records an error about an instruction.
func (r *run) report(in hlo.Instruction, rule, format string, args ...any) {
	r.bad[placeOf(in)] = true
	r.found = append(r.found, &Error{
		Rule: rule, File: r.m.Config().FileName, Computation: in.Computation().Name(), Instruction: in.Name(), Pos: in.Position(),
		Msg: fmt.Sprintf(format, args...), Hint: hintOf(rule),
	})
}

// warn records a warning about an instruction.
func (r *run) warn(in hlo.Instruction, rule, format string, args ...any) {
	was := r.isBad(in)
	r.report(in, rule, format, args...)
	r.found[len(r.found)-1].Severity = SeverityWarning
	if !was {
		delete(r.bad, placeOf(in))
	}
}

func (r *run) isBad(in hlo.Instruction) bool { return r.bad[placeOf(in)] }

// reportComputation records an error about a computation as a whole.
func (r *run) reportComputation(c hlo.Computation, rule, format string, args ...any) {
	r.found = append(r.found, &Error{
		Rule: rule, File: r.m.Config().FileName, Computation: c.Name(), Msg: fmt.Sprintf(format, args...), Hint: hintOf(rule),
	})
}

// reportModule records an error about the module as a whole.
func (r *run) reportModule(rule, format string, args ...any) {
	r.found = append(r.found, &Error{Rule: rule, File: r.m.Config().FileName, Msg: fmt.Sprintf(format, args...), Hint: hintOf(rule)})
}

// reportShape records the error of a shape rule.
func (r *run) reportShape(in hlo.Instruction, err error) {
	var e *hlo.ShapeError
	rule := "GEN-09"
	if errors.As(err, &e) {
		if e.Rule != "" {
			rule = e.Rule
		}
		r.report(in, rule, "%s, for instruction %%%s = %v %v", e.Msg, in.Name(), in.Shape(), in.Opcode())
		return
	}
	r.report(in, rule, "%v, for instruction %%%s", err, in.Name())
}

// wanted reports whether the op checks look at a computation.
func (r *run) wanted(c hlo.Computation) bool {
	if len(r.cfg.Threads) == 0 {
		return true
	}
	for _, t := range r.cfg.Threads {
		if t == c.ExecutionThread() {
			return true
		}
	}
	return false
}

// denseSize is the bytes of a shape whose arrays are dense, with sub-byte elements in a byte each; unbounded shapes are -1.
func denseSize(s hlo.Shape) int64 {
	if s.HasUnbounded() {
		return -1
	}
	if !s.IsTuple() && !s.IsBuffer() {
		return s.ByteSize()
	}
	n := int64(0)
	for i := range s.NumElems() {
		n += denseSize(s.Elem(i))
	}
	return n
}
