package pass

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// RewriteRule is one named rewrite of a [Rewriter].
type RewriteRule struct {
	ID  string
	Doc string // what becomes what: "x + 0 → x"
	// Words is Doc, and the rule as text, of a rule that was written as text: only who lists rules asks for them. Nil is another rule.
	Words func() (doc, text string)
	FP    FP
	Root  []hlo.Opcode // of the instructions that it replaces
	// Dynamic says that the rule is right where sizes are known at run time only. Other rules do not fire near dynamic dimensions.
	Dynamic bool
	// Operands says which opcodes each of the first operands must have; nil is any. It spares calls of Rewrite, which must look itself.
	Operands [][]hlo.Opcode
	// Rewrite returns what to put in the place of in, or false. It only looks.
	Rewrite func(in hlo.Instruction) (Expr, bool)
	// RewriteAt is Rewrite for rules that look at called computations too.
	RewriteAt func(s Site, in hlo.Instruction) (Expr, bool)
	// Forms are several ways to match, tried in order, in the place of Operands and Rewrite: the orders of operands that commute.
	Forms []RuleForm
	// Late, if not nil, makes the whole of a rule of which ID, FP and Root alone are here: it is read when an instruction is met that it may replace.
	Late func() *RewriteRule
	// LateOperands is the operands of the forms of a late rule, as Operands has them, without reading it. It may leave more than they do.
	LateOperands func() [][][]hlo.Opcode
}

// Whole is the rule with all that it consists of.
func (r *RewriteRule) Whole() *RewriteRule {
	if r.Late == nil {
		return r
	}
	return r.Late()
}

// RuleForm is one way in which a rule matches.
type RuleForm struct {
	Operands [][]hlo.Opcode
	Rewrite  func(in hlo.Instruction) (Expr, bool)
}

// Site is where a rule looks: the session that edits the computation.
type Site struct{ e *hlo.Editor }

// Computation is a called computation as it is now.
func (s Site) Computation(id hlo.CompID) (hlo.Computation, bool) {
	if !s.e.Has(id) {
		return hlo.Computation{}, false
	}
	return s.e.View(id), true
}

// Rewriter replaces instructions by rules until none applies. The result of a rule must equal the instruction in shape, apart from layout.
//
// Instructions with control dependencies stay, and so do fused computations and those that an async-start wraps. Metadata, sharding and
// frontend attributes go to what replaces an instruction; an instruction with a sharding is not replaced by an existing one without it.
// Instructions that a rewrite leaves without users are removed at once, so that later rules see true numbers of users.
type Rewriter struct {
	Rules []*RewriteRule
	// Allow is the worst class of rules that may fire; nil leaves it to the policy of the run.
	Allow *FP
	// On lists rules that may fire whatever their class, and Off rules that must not.
	On, Off []string
	// Layouts says that layouts are final: what stands for an instruction must have its layout too.
	Layouts bool
	// Once looks at each instruction once, operands first, and at none of those that it makes: one step of what it does without.
	Once bool

	tables [FastMath + 1]atomic.Pointer[ruleTable] // by policy, made when they are first asked for
}

// Document lists the rules for [Pass.Rules].
func (r *Rewriter) Document() (rules []Rule) {
	for _, rule := range r.Rules {
		rule = rule.Whole()
		doc, text := rule.Doc, ""
		if rule.Words != nil {
			doc, text = rule.Words()
		}
		if rule.FP != Exact {
			doc = fmt.Sprintf("%s (may change: %v)", doc, rule.FP)
		}
		rules = append(rules, Rule{rule.ID, doc, text})
	}
	return rules
}

// Local applies the rules to a computation: it is the Local of the pass.
func (r *Rewriter) Local(ctx *Context, m hlo.Module, c hlo.CompEdit) error {
	if Fact(ctx, m, analysis.FindClosed).Has(c.ID()) {
		return nil
	}
	w := &rewriting{ctx: ctx, rules: r.byRoot(ctx.FP()), c: c, layouts: r.Layouts, windows: analysis.FindWindows(c.View())}
	w.begins(c.View())
	if r.Once {
		for in := range c.View().PostOrder() {
			w.push(in.ID())
		}
		w.closed = true
	} else {
		for in := range c.View().Instructions() {
			if w.rules.has(in.Opcode()) {
				w.push(in.ID())
			}
		}
	}
	err := w.run(50*c.NumInstructions() + 1000)
	queues.Put(w.workQueue)
	return err
}

func (r *Rewriter) byRoot(allow FP) *ruleTable {
	if r.Allow != nil {
		allow = *r.Allow
	}
	if t := r.tables[allow].Load(); t != nil {
		return t
	}
	var rules []*RewriteRule
	for _, rule := range r.Rules {
		if (rule.FP <= allow || slices.Contains(r.On, rule.ID)) && !slices.Contains(r.Off, rule.ID) {
			rules = append(rules, rule)
		}
	}
	t := newRuleTable(rules)
	r.tables[allow].Store(t)
	return t
}

// rewriting is the work on one computation: a queue of instructions that a rule may apply to.
type rewriting struct {
	ctx     *Context
	rules   *ruleTable
	c       hlo.CompEdit
	layouts bool
	*workQueue
	closed  bool // nothing is added to the queue any more
	windows *analysis.Windows

	operands, users []hlo.InstrID // of the instruction that is replaced: room that is used again
	// made are the instructions of the expression that is being built: a part that stands in it twice is made once.
	made map[*hlo.InstrSpec]hlo.InstrID
	// called are the computations that rules have made, by key.
	called map[string]hlo.CompID
}

// workQueue is a queue of instructions, each of which is in it once at most. Its room is used again by the next rewriting.
type workQueue struct {
	ids    []hlo.InstrID
	head   int    // the next one in ids
	queued []bool // by id
}

var queues = sync.Pool{New: func() any { return new(workQueue) }}

// begins takes an empty queue for a computation.
func (w *rewriting) begins(c hlo.Computation) {
	q, n := queues.Get().(*workQueue), int(c.IDLimit())
	q.ids, q.head = slices.Grow(q.ids[:0], c.NumInstructions()), 0
	q.queued = slices.Grow(q.queued[:0], n)[:n]
	clear(q.queued)
	w.workQueue = q
}

func (w *rewriting) push(id hlo.InstrID) {
	if !w.closed {
		w.workQueue.push(id)
	}
}

func (q *workQueue) push(id hlo.InstrID) {
	if n := int(id) + 1 - len(q.queued); n > 0 {
		q.queued = append(q.queued, make([]bool, n)...)
	}
	if q.queued[id] {
		return
	}
	q.queued[id] = true
	if len(q.ids) == cap(q.ids) && q.head > len(q.ids)/2 {
		q.ids, q.head = q.ids[:copy(q.ids, q.ids[q.head:])], 0
	}
	q.ids = append(q.ids, id)
}

func (q *workQueue) pop() (hlo.InstrID, bool) {
	if q.head == len(q.ids) {
		return hlo.NoInstr, false
	}
	id := q.ids[q.head]
	q.head++
	q.queued[id] = false
	return id, true
}

// run works until the queue is empty or limit rewrites are done: rules that undo each other would never end.
func (w *rewriting) run(limit int) error {
	for limit > 0 {
		if w.head%hlo.NodesAhead == 0 {
			w.c.Ahead(w.ids[w.head:min(w.head+hlo.NodesAhead, len(w.ids))])
		}
		id, ok := w.pop()
		if !ok {
			break
		}
		in, ok := w.c.View().At(id)
		if !ok || !w.replaceable(in) {
			continue
		}
		done, err := w.visit(in)
		if err != nil {
			return err
		}
		if done {
			limit--
		}
	}
	if limit <= 0 {
		w.ctx.Missed(w.c.At(w.c.Root()), "rewriting of %s was stopped: rules undo each other", w.c.Name())
	}
	return w.ctx.Err()
}

// visit applies the first rule that fits.
func (w *rewriting) visit(in hlo.Instruction) (done bool, err error) {
	w.rules.candidates(in, func(rule *RewriteRule, rewrite func(hlo.Instruction) (Expr, bool)) bool {
		var to Expr
		var ok bool
		if rule.RewriteAt != nil {
			to, ok = rule.RewriteAt(Site{w.c.Editor()}, in)
		} else {
			to, ok = rewrite(in)
		}
		if !ok || !to.shape.IsValid() || !w.fitsPlace(in, to) || !inSchedule(in, to) || !sound(rule, in, to) || w.narrows(in, to) || !w.ctx.Spend(rule.ID) {
			return true
		}
		if err = w.apply(in, to); err != nil {
			err = fmt.Errorf("rule %s: %w", rule.ID, err)
			return false
		}
		w.ctx.Count(rule.ID, 1)
		if rule.FP != Exact {
			w.ctx.Count(firedPrefix+rule.FP.String(), 1)
		}
		done = true
		return false
	})
	return done, err
}

func (w *rewriting) apply(in hlo.Instruction, to Expr) error {
	id := in.ID()
	w.operands = w.operands[:0]
	for i := range in.NumOperands() {
		w.operands = append(w.operands, in.Operand(i))
	}
	w.users = slices.AppendSeq(w.users[:0], w.c.Users(id))
	if to.IsNew() {
		to = to.ofShape(in.Shape())
	}
	clear(w.made)
	new := w.make(id, to, handedOn(in.Common()), in.Position())
	if err := w.c.ReplaceInstruction(id, new); err != nil {
		return err
	}
	w.push(new)
	if to.instead {
		if err := w.c.Remove(w.operands[0]); err != nil {
			return err
		}
	}
	for _, user := range w.users {
		w.push(user)
	}
	for _, o := range w.operands {
		w.release(o)
	}
	return nil
}

// handedOn is what of an instruction's attributes belongs to whatever computes its value.
func handedOn(c *hlo.Common) *hlo.Common {
	if c == nil || c.Metadata == nil && c.Sharding == nil && c.FrontendAttributes == nil {
		return nil
	}
	return &hlo.Common{Metadata: c.Metadata, Sharding: c.Sharding, FrontendAttributes: c.FrontendAttributes}
}

// make builds an expression in front of an instruction. Parts of it inherit the metadata only.
func (w *rewriting) make(before hlo.InstrID, e Expr, common *hlo.Common, pos hlo.Position) hlo.InstrID {
	if !e.IsNew() {
		return e.id
	}
	var inner *hlo.Common
	if common != nil && common.Metadata != nil {
		inner = &hlo.Common{Metadata: common.Metadata}
	}
	if id, ok := w.made[e.spec]; ok {
		return id
	}
	spec := *e.spec
	spec.Common, spec.Position = common, pos
	for _, o := range e.operands {
		spec.Operands = append(spec.Operands, w.make(before, o, inner, pos))
	}
	for _, c := range e.makes {
		spec.Callees = append(spec.Callees, w.callee(c))
	}
	id := w.c.InsertSpecBefore(before, spec).ID()
	w.windows.Stands(id, before)
	if w.made == nil {
		w.made = map[*hlo.InstrSpec]hlo.InstrID{}
	}
	w.made[e.spec] = id
	w.push(id)
	return id
}

// callee makes a computation, or finds the one that was made before.
func (w *rewriting) callee(c *NewCallee) hlo.CompID {
	if id, ok := w.called[c.Key]; ok && c.Key != "" {
		return id
	}
	id := c.Make(w.c.Editor())
	if w.called == nil {
		w.called = map[string]hlo.CompID{}
	}
	w.called[c.Key] = id
	return id
}

// release removes an instruction that has lost its last user, and then its operands; what stays is looked at again.
func (w *rewriting) release(id hlo.InstrID) {
	Release(w.c, id, func(kept hlo.InstrID) {
		w.push(kept)
		// A rule may ask whether a value has one user. Values with many lose them one by one, and looking at all the others each time would
		// make the time quadratic.
		if w.c.UserCount(kept) == 1 {
			for user := range w.c.Users(kept) {
				w.push(user)
			}
		}
	})
}
