package control

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// InfeedTokenPropagation orders infeeds and outfeeds over the borders of computations.
var InfeedTokenPropagation = &pass.Pass{
	Name: "infeed-token-propagation",
	Doc: `order infeeds, and outfeeds, of one configuration by their tokens, through loops and branches

An infeed or outfeed that begins with a token of its own, and whose token nothing takes, gets the token of the one before it. In the body of a loop, or in a branch, the
first takes its token from outside and the last hands its token out: the state, or argument and result, grow by tokens. Computations that several instructions run stay as they are.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		t := &tokens{ctx: ctx, m: m, e: ctx.Edit(m), pending: map[place]map[string]*link{}}
		for c := range m.PostOrder() {
			t.visit(c)
		}
		return t.e.Freeze(), nil
	},
}

// tokens is the pass at work. What instructions of a computation have got from inside of them is pending until it is visited.
type tokens struct {
	ctx     *pass.Context
	m       hlo.Module
	e       *hlo.Editor
	pending map[place]map[string]*link
}

// link is an instruction that takes tokens and gives one.
type link struct {
	inputs []input
	output func(at emit.At) hlo.InstrID
}

// input is an operand that is a token of its own.
type input struct {
	user    hlo.InstrID
	operand int
}

// visit chains the links of a computation, and hands the ends of the chains out.
func (t *tokens) visit(c hlo.Computation) {
	ce := t.e.Computation(c.ID())
	chains := map[string][]*link{}
	var keys []string
	add := func(key string, l *link) {
		if chains[key] == nil {
			keys = append(keys, key)
		}
		chains[key] = append(chains[key], l)
	}
	for in := range c.PostOrder() {
		if key, l := dangling(in); l != nil {
			add(key, l)
		}
		inside := t.pending[place{c.ID(), in.ID()}]
		for _, key := range sortedKeys(inside) {
			add(key, inside[key])
		}
	}
	for _, key := range keys {
		chain := chains[key]
		for i := 1; i < len(chain); i++ {
			if t.ctx.Spend("chain") {
				t.connect(ce, chain[i], chain[i-1].output(emit.End(ce)))
			}
		}
	}
	if len(keys) > 0 {
		emit.Reorder(ce)
		t.handOut(c, ce, keys, chains)
	}
}

func sortedKeys(m map[string]*link) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// connect makes the inputs of a link be a token.
func (t *tokens) connect(ce hlo.CompEdit, l *link, token hlo.InstrID) {
	for _, in := range l.inputs {
		was := ce.At(in.user).Operand(in.operand)
		ce.Instr(in.user).SetOperand(in.operand, token)
		pass.Release(ce, was, nil)
		if ce.Has(was) && ce.UserCount(was) == 0 && ce.Root() != was && ce.At(was).NumControlPredecessors() == 0 && len(slices.Collect(ce.ControlSuccessors(was))) == 0 {
			_ = ce.Remove(was) // it has no users
		}
	}
	t.ctx.Count("tokens", 1)
}

// dangling recognises an infeed or outfeed with a token of its own. Those of its kind that take their tokens from one another behind it belong
// to it; nothing may take the token of the last.
func dangling(in hlo.Instruction) (key string, l *link) {
	key, operand := feed(in)
	if key == "" {
		return "", nil
	}
	if token := in.OperandInstr(operand); token.Opcode() != hlo.OpAfterAll || token.NumOperands() > 0 {
		return "", nil
	}
	last := in
	for {
		next, ok := tokenUser(last)
		if !ok {
			return "", nil
		}
		if next.IsZero() {
			break
		}
		if k, _ := feed(next); k != key {
			return "", nil
		}
		last = next
	}
	id, element := last.ID(), last.Opcode() == hlo.OpInfeed
	return key, &link{[]input{{in.ID(), operand}}, func(at emit.At) hlo.InstrID {
		if element {
			return at.Element(id, 1)
		}
		return id
	}}
}

// feed is what infeeds, or outfeeds, that are ordered have in common, and which operand is the token; "" for other instructions.
func feed(in hlo.Instruction) (key string, operand int) {
	switch a := in.Attrs().(type) {
	case *hlo.InfeedAttrs:
		return fmt.Sprintf("infeed %s", a.Config), 0
	case *hlo.OutfeedAttrs:
		return fmt.Sprintf("outfeed %s", a.Config), 1
	}
	return "", 0
}

// tokenUser is the only user of the token of an infeed or outfeed, the zero instruction if none is; false if there are several, or the token is handed out.
func tokenUser(in hlo.Instruction) (user hlo.Instruction, ok bool) {
	if in.IsRoot() {
		return user, false
	}
	n := 0
	for u := range in.Users() {
		if in.Opcode() == hlo.OpOutfeed {
			user = u
			n++
			continue
		}
		if u.Opcode() != hlo.OpGetTupleElement {
			return user, false
		}
		if hlo.AttrsOf[hlo.TupleElementAttrs](u).Index != 1 {
			continue
		}
		if u.IsRoot() {
			return user, false
		}
		for taker := range u.Users() {
			user = taker
			n++
		}
	}
	return user, n <= 1
}

// handOut takes the chains of a loop body or a branch through what runs it.
func (t *tokens) handOut(c hlo.Computation, ce hlo.CompEdit, keys []string, chains map[string][]*link) {
	var at place
	n := 0
	for comp, in := range t.m.Callers(c.ID()) {
		at = place{comp, in}
		n++
	}
	if n != 1 {
		return
	}
	outside := t.e.Computation(at.comp)
	caller := outside.At(at.in)
	role := slices.Index(slices.Collect(caller.Callees()), c.ID())
	isLoop := caller.Opcode() == hlo.OpWhile && role == 0 && calledOnce(t.m, caller.Callee(1))
	isBranch := caller.Opcode() == hlo.OpConditional && caller.Shape().IsTuple() && caller.OperandInstr(role+1).Shape().IsTuple() && t.ownBranches(caller)
	if !isLoop && !isBranch {
		return
	}
	if t.pending[at] == nil {
		t.pending[at] = map[string]*link{}
	}
	for _, key := range keys {
		if !t.ctx.Spend("out") {
			continue
		}
		chain := chains[key]
		if isLoop {
			t.throughLoop(outside, at, ce, key, chain)
		} else {
			t.throughBranch(outside, at, role, ce, key, chain)
		}
	}
}

// ownBranches reports whether nothing else runs the branches of a conditional.
func (t *tokens) ownBranches(in hlo.Instruction) bool {
	for id := range in.Callees() {
		if !calledOnce(t.m, id) {
			return false
		}
	}
	return true
}

// throughLoop makes a chain take its token from the state of a loop, and leave one there.
func (t *tokens) throughLoop(outside hlo.CompEdit, at place, ce hlo.CompEdit, key string, chain []*link) {
	while := outside.At(at.in)
	cond := t.e.Computation(while.Callee(1))
	token := emit.Before(outside, while).Op(hlo.OpAfterAll, nil)
	n := emit.Loop{C: outside, While: at.in, Body: ce, Cond: cond}.Grow([]hlo.InstrID{token}, func(in emit.At, parts []hlo.InstrID) []hlo.InstrID {
		t.connect(ce, chain[0], parts[0])
		return []hlo.InstrID{chain[len(chain)-1].output(in)}
	})
	t.pend(outside, at, key, input{outside.At(at.in).Operand(0), n}, n)
}

// throughBranch makes a chain take its token from the argument of a branch, and hands one out. Other branches hand out a token of their own.
func (t *tokens) throughBranch(outside hlo.CompEdit, at place, role int, ce hlo.CompEdit, key string, chain []*link) {
	in := outside.At(at.in)
	token := emit.Before(outside, in).Op(hlo.OpAfterAll, nil)
	tuple := emit.GrownTuple(outside, outside.At(at.in), role+1, []hlo.InstrID{token})
	outside.Instr(at.in).SetOperand(role+1, tuple) // its order is mended when the computation is visited

	param := ce.View().Parameters()[0]
	n := ce.At(param).Shape().NumElems()
	shapes := []hlo.Shape{hlo.MakeToken()}
	emit.GrowParameter(ce, param, shapes)
	t.connect(ce, chain[0], emit.End(ce).Element(param, n))
	for i, id := range slices.Collect(outside.At(at.in).Callees()) {
		branch := t.e.Computation(id)
		end := emit.End(branch)
		out := hlo.NoInstr
		if i == role {
			out = chain[len(chain)-1].output(end)
		} else {
			out = end.Op(hlo.OpAfterAll, nil)
		}
		emit.GrowRoot(branch, []hlo.InstrID{out})
	}
	r := outside.At(at.in).Shape().NumElems()
	emit.GrowResult(outside, at.in, shapes)
	t.pend(outside, at, key, input{tuple, n}, r)
}

// pend notes what an instruction takes and gives. Of several chains that go through it, all take one token, and the last gives one.
func (t *tokens) pend(outside hlo.CompEdit, at place, key string, in input, result int) {
	l := t.pending[at][key]
	if l == nil {
		l = &link{}
		t.pending[at][key] = l
	}
	l.inputs = append(l.inputs, in)
	l.output = func(end emit.At) hlo.InstrID { return end.Element(at.in, result) }
}
