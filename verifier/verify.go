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
	if r.wants(LevelAsync) {
		r.pairs()
		r.channels()
		r.chains()
	}
	r.instructions()
	if r.wants(LevelAsync) {
		r.promises()
	}
	r.buffers()
	r.entry()
	r.schedule()
	r.aliases()
	r.donors()
	r.extra()
}

// run is the state of one verification.
type run struct {
	cfg   Config
	m     hlo.Module
	found ErrorList

	signatures []hlo.ProgramShape // by CompID, made on demand
	linked     []hlo.Instruction  // members of pairs and chains, in module order
	callers    []hlo.Instruction  // instructions that call computations, in module order
	fused      []hlo.Instruction  // by CompID: the first fusion that has it as its body
	applied    []bool             // by CompID: looked at as a reducer or the like
	async      []asyncBody        // by CompID: what starts it
	bad        map[place]bool     // instructions with errors
	tainted    map[place]bool     // instructions that continue one of those

	seen   []uint32 // by InstrID: the last computation in which the instruction was seen, counted by seenIn
	seenIn uint32

	ctx      hlo.ShapeContext // of the instruction at hand
	operands []hlo.Shape
	callees  []hlo.ProgramShape

	traces   map[traceKey]hlo.Instruction // producers found, zero where there is none
	paths    map[pathKey]pathID
	pathKeys []pathKey // by pathID-1
	loopsOf  map[hlo.CompID]loops

	heads    map[place]hlo.Instruction // the head of the chain of an update or done: its async-start, or the earliest step that can be seen
	carriers map[place]bool            // whether a value goes around a loop
	shown    map[place][]Link          // chains as messages show them, by head

	compared map[[2]hlo.CompID]bool // computations found to be equivalent, or not

	hostTransfers map[int64]hlo.Instruction // the first send or recv of each channel to the host

	hasBuffers bool
	uses       map[place]*uses // of values with buffers
	tupleSlots map[place]map[hlo.InstrID][]int64

	goodTuples   map[hlo.Shape]bool          // tuple shapes whose leaves are in order
	goodGroups   map[*hlo.ReplicaGroups]bool // groups that list each id once
	goodSharding map[sharded]bool

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
		cfg: cfg, m: m, signatures: make([]hlo.ProgramShape, n), fused: make([]hlo.Instruction, n), applied: make([]bool, n), async: make([]asyncBody, n),
		bad: make(map[place]bool), tainted: make(map[place]bool), heads: make(map[place]hlo.Instruction), carriers: make(map[place]bool),
	}
	if r.cfg.CanChangeLayout == nil {
		r.cfg.CanChangeLayout = defaultCanChangeLayout
	}
	if r.cfg.ShapeSize == nil {
		r.cfg.ShapeSize = DenseSize
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if op, pair := in.Opcode(), hlo.Info(in.Opcode()).Pair; pair.Begins(op) || pair.Ends(op) || hlo.IsAsync(op) {
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
					if r.fused[id].IsZero() {
						r.fused[id] = in
					}
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

// isFused reports whether a computation is the body of a fusion.
func (r *run) isFused(id hlo.CompID) bool { return !r.fused[id].IsZero() }

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
	e := r.finding(rule, format, args...)
	e.Computation, e.Instruction, e.Pos = in.Computation().Name(), in.Name(), in.Position()
	if levelOf(rule) == LevelAsync && r.checks(rule) {
		e.Chain = r.chainOf(in)
	}
	r.add(e)
}

// warn records a warning about an instruction.
func (r *run) warn(in hlo.Instruction, rule, format string, args ...any) {
	e := r.finding(rule, format, args...)
	e.Severity, e.Computation, e.Instruction, e.Pos = SeverityWarning, in.Computation().Name(), in.Name(), in.Position()
	r.add(e)
}

func (r *run) isBad(in hlo.Instruction) bool { return len(r.bad) > 0 && r.bad[placeOf(in)] }

// reportComputation records an error about a computation as a whole; it stands where the computation begins.
func (r *run) reportComputation(c hlo.Computation, rule, format string, args ...any) {
	e := r.finding(rule, format, args...)
	e.Computation = c.Name()
	for in := range c.Instructions() {
		e.Pos = in.Position()
		break
	}
	r.add(e)
}

// reportModule records an error about the module as a whole.
func (r *run) reportModule(rule, format string, args ...any) {
	r.add(r.finding(rule, format, args...))
}

func (r *run) finding(rule, format string, args ...any) *Error {
	if !r.cfg.LayoutSensitive && levelOf(rule) != LevelLayout {
		args = hlo.WithoutLayouts(args)
	}
	msg := fmt.Sprintf(format, args...)
	if r.cfg.Context != "" {
		msg = "during context [" + r.cfg.Context + "]: " + msg
	}
	return &Error{Rule: rule, File: r.m.Config().FileName, Msg: msg, Hint: hintOf(rule)}
}

func (r *run) add(e *Error) {
	if r.checks(e.Rule) {
		r.found = append(r.found, e)
	}
}

// needed are the rules without which a module cannot be looked at: no choice of levels switches them off.
var needed = []string{"MOD-02", "STR-03", "STR-08", "HALO-RECURSION"}

// checks reports whether a rule belongs to the levels that are wanted.
func (r *run) checks(rule string) bool {
	return r.wants(levelOf(rule)) || slices.Contains(needed, rule)
}

// wants reports whether some of the levels are to be checked.
func (r *run) wants(l Level) bool { return r.cfg.Levels == 0 || r.cfg.Levels&l != 0 }

// reportShape records the error of a shape rule.
func (r *run) reportShape(in hlo.Instruction, err error) {
	rule, msg := "GEN-09", err.Error()
	var e *hlo.ShapeError
	if errors.As(err, &e) {
		msg = e.Msg
		if e.Rule != "" {
			rule = e.Rule
		}
	}
	switch {
	case rule == "GEN-09":
		msg += fmt.Sprintf(", for instruction %%%s", in.Name())
	case !in.Position().IsKnown(): // there is no line to look at
		msg += fmt.Sprintf(", for instruction %%%s = %v %v", in.Name(), in.Shape(), in.Opcode())
	}
	r.report(in, rule, "%s", msg)
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
