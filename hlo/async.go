package hlo

import (
	"fmt"
	"slices"
	"strings"
)

// The asynchronous wrapper and its sugar (hlo-text section 7): `OP-start`, `OP-update` and `OP-done` stand for async-start,
// async-update and async-done around a computation that consists of OP alone. Whether a name is sugar, and when it may be written, is decided
// here, for reader and printer alike.

// asyncSuffixes are the sugared endings in the order in which they are tried.
var asyncSuffixes = [...]struct {
	suffix string
	op     Opcode
}{{"-start", OpAsyncStart}, {"-update", OpAsyncUpdate}, {"-done", OpAsyncDone}}

// ParseMnemonic reads the opcode word of an instruction. For sugar, op is the async opcode and wrapped the opcode inside; otherwise
// wrapped is OpInvalid.
func ParseMnemonic(word string) (op, wrapped Opcode, err error) {
	if op, ok := OpcodeByName(word); ok {
		return op, OpInvalid, nil
	}
	for _, s := range asyncSuffixes {
		base, ok := strings.CutSuffix(word, s.suffix)
		if !ok {
			continue
		}
		wrapped, ok := OpcodeByName(base)
		switch {
		case !ok:
			return OpInvalid, OpInvalid, fmt.Errorf("expects async wrapped opcode but sees: %s, error: Unknown opcode: %s", word, base)
		case HasNativeAsync(wrapped):
			return OpInvalid, OpInvalid, fmt.Errorf("expects opcode but sees: %s, error: Unknown opcode: %s", word, word)
		case Info(wrapped).Traits.Has(TraitNotWrappable):
			return OpInvalid, OpInvalid, fmt.Errorf("expects opcode but sees: %s, error: %s cannot be wrapped", word, base)
		}
		return s.op, wrapped, nil
	}
	return OpInvalid, OpInvalid, fmt.Errorf("expects opcode but sees: %s, error: Unknown opcode: %s", word, word)
}

// AsyncMnemonic is the sugared word for an async opcode around wrapped, the inverse of [ParseMnemonic]; false when there is none.
func AsyncMnemonic(op, wrapped Opcode) (string, bool) {
	if !wrapped.IsValid() || HasNativeAsync(wrapped) || Info(wrapped).Traits.Has(TraitNotWrappable) {
		return "", false
	}
	for _, s := range asyncSuffixes {
		if s.op == op {
			return wrapped.String() + s.suffix, true
		}
	}
	return "", false
}

// IsAsync reports whether op is one of the three opcodes of the wrapper.
func IsAsync(op Opcode) bool { return op == OpAsyncStart || op == OpAsyncUpdate || op == OpAsyncDone }

// IsExpandable reports whether every instruction of c is a parameter or the root, which is what sugar can say.
func IsExpandable(c Computation) bool {
	for in := range c.Instructions() {
		if in.Opcode() != OpParameter && !in.IsRoot() {
			return false
		}
	}
	return true
}

// forwardingTargets are the custom-calls that hand their operand through, so that an asynchronous value can be followed across them.
var forwardingTargets = map[string]bool{
	"Sharding": true, "LocalToGlobalShape": true, "GlobalToLocalShape": true,
	"xla.sdy.LocalToGlobalShape": true, "xla.sdy.GlobalToLocalShape": true, "xla.sdy.FuncResultSharding": true,
}

// ForwardsAsync reports whether an asynchronous value may be followed from the result of an instruction to its operand 0.
func ForwardsAsync(op Opcode, attrs OpAttrs) bool {
	switch op {
	case OpOptBarrier, OpCopy, OpAsyncUpdate:
		return true
	case OpCustomCall:
		a, ok := attrs.(*CustomCallAttrs)
		return ok && forwardingTargets[a.Target]
	}
	return false
}

// TupledAgain finds the value of which in is a tuple of all elements, in their order.
func TupledAgain(in Instruction) (whole Instruction, ok bool) {
	if in.Opcode() != OpTuple || in.NumOperands() == 0 {
		return Instruction{}, false
	}
	for i := range in.NumOperands() {
		element := in.OperandInstr(i)
		if element.Opcode() != OpGetTupleElement || AttrsOf[TupleElementAttrs](element).Index != int64(i) ||
			i > 0 && element.Operand(0) != whole.ID() {
			return Instruction{}, false
		}
		whole = element.OperandInstr(0)
	}
	return whole, whole.Shape().NumElems() == in.NumOperands()
}

// AsyncStartOf finds the async-start at the head of the chain that in, one of the three async opcodes, belongs to. The chain is
// followed through updates, tuples, loops and ops that forward their operand; false when it leads to anything else.
func AsyncStartOf(m Module, in Instruction) (Instruction, bool) {
	if in.Opcode() == OpAsyncStart {
		return in, true
	}
	if !IsAsync(in.Opcode()) || in.NumOperands() == 0 {
		return Instruction{}, false
	}
	in = in.OperandInstr(0)
	var path []int64 // elements still to be taken of the value of in, outermost last
	seen := make(map[CompID]bool)
	for {
		switch op := in.Opcode(); {
		case op == OpAsyncStart:
			return in, len(path) == 0
		case op == OpGetTupleElement && in.NumOperands() > 0:
			path = append(path, AttrsOf[TupleElementAttrs](in).Index)
			in = in.OperandInstr(0)
		case op == OpTuple && len(path) > 0:
			i := path[len(path)-1]
			if i < 0 || i >= int64(in.NumOperands()) {
				return Instruction{}, false
			}
			path = path[:len(path)-1]
			in = in.OperandInstr(int(i))
		case op == OpTuple:
			whole, ok := TupledAgain(in)
			if !ok {
				return Instruction{}, false
			}
			in = whole
		case op == OpParameter:
			body := in.Computation().ID()
			loop, ok := onlyLoop(m, body)
			if !ok || seen[body] {
				return Instruction{}, false
			}
			seen[body] = true
			in = loop.OperandInstr(0)
		case op == OpWhile && in.NumCallees() > 0 && in.NumOperands() > 0:
			// The value comes out of the body; when the body hands it through, its parameter leads to the initial value.
			body, ok := m.Computation(in.Callee(0))
			if !ok || body.Root().IsZero() {
				return Instruction{}, false
			}
			in = body.Root()
		case ForwardsAsync(op, in.Attrs()) && in.NumOperands() > 0:
			in = in.OperandInstr(0)
		default:
			return Instruction{}, false
		}
	}
}

// onlyLoop is the while that has body as its body, when nothing else calls it.
func onlyLoop(m Module, body CompID) (Instruction, bool) {
	var loop Instruction
	n := 0
	for comp, id := range m.Callers(body) {
		c, _ := m.Computation(comp)
		loop, _ = c.At(id)
		n++
	}
	if n != 1 || loop.Opcode() != OpWhile || loop.NumCallees() == 0 || loop.Callee(0) != body || loop.NumOperands() == 0 {
		return Instruction{}, false
	}
	return loop, true
}

// AsyncCallee is the computation that the chain of in runs: what its async-start calls, or what in itself names when the start
// cannot be seen.
func AsyncCallee(m Module, in Instruction) (Computation, bool) {
	if start, ok := AsyncStartOf(m, in); ok {
		in = start
	}
	if !IsAsync(in.Opcode()) || in.NumCallees() == 0 {
		return Computation{}, false
	}
	return m.Computation(in.Callee(0))
}

// CanSugar reports whether the async-start, and so its whole chain, can be written as sugar around the root of wrapped and read back
// as the same program: wrapped has parameters and a root only, the root has a sugared form, its operands are the parameters in order,
// and no common attribute of the root differs from the start's.
func CanSugar(start Instruction, wrapped Computation) bool {
	root := wrapped.Root()
	if root.IsZero() || !IsExpandable(wrapped) {
		return false
	}
	if _, ok := AsyncMnemonic(OpAsyncStart, root.Opcode()); !ok {
		return false
	}
	if root.NumOperands() != wrapped.NumParameters() || root.NumControlPredecessors() > 0 {
		return false
	}
	for i := range root.NumOperands() {
		if p := wrapped.Parameter(i); root.Operand(i) != p.ID() || p.Common() != nil && !equalCommon(p.Common(), nil) {
			return false
		}
	}
	return sugarCommon(start.Common(), root.Common(), chainSteps(start))
}

// chainSteps lists the common attributes of start and of the updates and dones after it in its computation, in program order.
func chainSteps(start Instruction) []*Common {
	steps := []Instruction{start}
	for i := 0; i < len(steps); i++ {
		for user := range steps[i].Users() {
			if op := user.Opcode(); (op == OpAsyncUpdate || op == OpAsyncDone) && user.Operand(0) == steps[i].ID() {
				steps = append(steps, user)
			}
		}
	}
	c := start.Computation()
	slices.SortFunc(steps, func(a, b Instruction) int {
		if c.Less(a.ID(), b.ID()) {
			return -1
		}
		return boolInt(c.Less(b.ID(), a.ID()))
	})
	all := make([]*Common, len(steps))
	for i, in := range steps {
		if all[i] = in.Common(); all[i] == nil {
			all[i] = &noCommon
		}
	}
	return all
}

// sugarCommon reports whether reading sugar gives the root of the wrapped computation the attributes it has. Metadata, origin,
// backend_config, frontend_attributes and statistics come from the last step of the chain that has them; frontend_attributes of the
// root are written with the start when that has none. sharding and result_accuracy are written with the start for the root.
func sugarCommon(start, root *Common, steps []*Common) bool {
	if root == nil {
		root = &noCommon
	}
	if start == nil {
		start = &noCommon
	}
	if root.Sharding != nil && start.Sharding != nil || len(root.Unknown) > 0 {
		return false
	}
	var last Common
	for _, s := range steps {
		last.share(s)
	}
	return (root.Metadata == nil || EqualAttr(root.Metadata, last.Metadata)) &&
		(root.Origin == nil || EqualAttr(root.Origin, last.Origin)) &&
		(root.BackendConfig == "" || root.BackendConfig == last.BackendConfig) &&
		(root.Statistics == nil || EqualAttr(root.Statistics, last.Statistics) && start.Statistics == nil) &&
		(root.FrontendAttributes == nil || last.FrontendAttributes == nil || EqualAttr(root.FrontendAttributes, last.FrontendAttributes))
}

// SharedCommon returns base with what a step of an asynchronous chain says for the wrapped op, too (hlo-text section 7.6): metadata, origin, backend config, frontend attributes
// and statistics. It returns base itself if the step says none of it. Either may be nil.
func SharedCommon(base, step *Common) *Common {
	var c Common
	if base != nil {
		c = *base
	}
	if step == nil || !c.share(step) {
		return base
	}
	merged := c
	return &merged
}

// share takes over what a step shares with the wrapped op, and reports whether there is something.
func (c *Common) share(step *Common) (some bool) {
	if step.Metadata != nil {
		c.Metadata, some = step.Metadata, true
	}
	if step.Origin != nil {
		c.Origin, some = step.Origin, true
	}
	if step.BackendConfig != "" {
		c.BackendConfig, some = step.BackendConfig, true
	}
	if step.FrontendAttributes != nil {
		c.FrontendAttributes, some = step.FrontendAttributes, true
	}
	if step.Statistics != nil {
		c.Statistics, some = step.Statistics, true
	}
	return some
}
