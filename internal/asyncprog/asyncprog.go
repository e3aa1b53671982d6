// Package asyncprog makes random asynchronous programs, as text, for tests: chains that are carried through loops, branches, calls and tuples,
// operands that are bound late, sleeping operations, and operations that fail.
package asyncprog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Fails is the target of the custom call that fails.
const Fails = "test.fail"

// Program is a random program over parameters of f32[4].
type Program struct {
	Text    string
	Inputs  int
	Outputs int
	Valid   []bool // of the outputs, those that no failure reaches
	Fails   bool   // some operation fails
	Sleeps  bool
}

// Options choose what a program may have.
type Options struct {
	Size  int // instructions of the entry, about
	Sleep int // microseconds that an operation sleeps at most; 0 for none
	Fail  bool
}

// New makes the program of a seed.
func New(seed uint64, o Options) Program {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1)), o: o}
	return g.program(seed)
}

// value is a computed array, or a chain under way.
type value struct {
	name   string
	failed bool
}

// chain is asynchronous work that has not been waited for.
type chain struct {
	name   string
	prefix string // of its opcodes
	shape  string
	late   bool   // its second operand is missing
	state  string // its shape once that is bound
	failed bool
}

type generator struct {
	r      *rand.Rand
	o      Options
	n      int
	before strings.Builder // computations
	fails  bool
}

// scope is a computation being written.
type scope struct {
	g      *generator
	b      strings.Builder
	values []value
	chains []chain
}

const vec = "f32[4]"

func (g *generator) name(prefix string) string {
	g.n++
	return fmt.Sprintf("%s.%d", prefix, g.n)
}

func (g *generator) program(seed uint64) Program {
	s := &scope{g: g}
	p := Program{Inputs: 1 + g.r.IntN(3), Sleeps: g.o.Sleep > 0}
	for i := range p.Inputs {
		name := g.name("in")
		fmt.Fprintf(&s.b, "  %s = %s parameter(%d)\n", name, vec, i)
		s.values = append(s.values, value{name: name})
	}
	for range g.o.Size {
		s.instruction(2)
	}
	for len(s.chains) > 0 {
		s.done()
	}
	p.Outputs = 1 + g.r.IntN(4)
	var names, types []string
	for range p.Outputs {
		v := s.pick()
		names, types = append(names, v.name), append(types, vec)
		p.Valid = append(p.Valid, !v.failed)
	}
	fmt.Fprintf(&s.b, "  ROOT out = (%s) tuple(%s)\n", strings.Join(types, ", "), strings.Join(names, ", "))
	p.Text = fmt.Sprintf("HloModule random_%d\n\n%sENTRY main {\n%s}\n", seed, g.before.String(), s.b.String())
	p.Fails = g.fails
	return p
}

func (s *scope) pick() value { return s.values[s.g.r.IntN(len(s.values))] }

func (s *scope) add(failed bool, format string, args ...any) value {
	name := s.g.name("v")
	fmt.Fprintf(&s.b, "  %s = %s "+format+"\n", append([]any{name, vec}, args...)...)
	v := value{name, failed}
	s.values = append(s.values, v)
	return v
}

// instruction writes one of any kind. Deep is how many computations may still be called within each other.
func (s *scope) instruction(deep int) {
	g := s.g
	switch k := g.r.IntN(20); {
	case k < 5:
		a, b := s.pick(), s.pick()
		s.add(a.failed || b.failed, "%s(%s, %s)", []string{"add", "subtract", "maximum", "minimum"}[g.r.IntN(4)], a.name, b.name)
	case k < 6:
		a := s.pick()
		s.add(a.failed, "negate(%s)", a.name)
	case k < 8 && g.o.Sleep > 0:
		a := s.pick()
		s.add(a.failed, "custom-call(%s), %s", a.name, g.sleep())
	case k < 9 && g.o.Fail && g.r.IntN(4) == 0:
		g.fails = true
		s.add(true, "custom-call(%s), custom_call_target=%q", s.pick().name, Fails)
	case k < 13:
		s.start()
	case k < 15 && len(s.chains) > 0:
		s.done()
	case k < 16 && deep > 0:
		s.call(deep - 1)
	case k < 17 && deep > 0:
		s.branch(deep - 1)
	case k < 19 && deep > 0:
		s.loop(deep - 1)
	default:
		a := s.pick()
		s.add(a.failed, "copy(%s)", a.name)
	}
}

func (g *generator) sleep() string {
	target := "halo.sleep"
	if g.r.IntN(4) == 0 {
		target = "halo.spin"
	}
	return fmt.Sprintf("custom_call_target=%q, backend_config=\"%d\"", target, g.r.IntN(g.o.Sleep+1))
}

// start begins work: an op by its own name, or a computation of several.
func (s *scope) start() {
	g := s.g
	a := s.pick()
	c := chain{name: g.name("s"), failed: a.failed}
	thread := []string{"", `, async_execution_thread="side"`}[g.r.IntN(2)]
	switch g.r.IntN(4) {
	case 0:
		c.prefix, c.shape = "negate", "(("+vec+"), "+vec+", u32[])"
		fmt.Fprintf(&s.b, "  %s = %s negate-start(%s)%s\n", c.name, c.shape, a.name, thread)
	case 1:
		c.prefix, c.late = "add", true
		c.shape, c.state = "(("+vec+"), (), u32[])", "(("+vec+", "+vec+"), "+vec+", u32[])"
		fmt.Fprintf(&s.b, "  %s = %s add-start(%s)%s\n", c.name, c.shape, a.name, thread)
	case 2:
		if g.o.Sleep == 0 {
			s.start()
			return
		}
		c.prefix, c.shape = "custom-call", "(("+vec+"), "+vec+", u32[])"
		fmt.Fprintf(&s.b, "  %s = %s custom-call-start(%s)%s, %s\n", c.name, c.shape, a.name, thread, g.sleep())
	case 3:
		b := s.pick()
		thread = `, async_execution_thread="side"` // what runs on the main thread may be one op only
		body, failed := g.body([]bool{a.failed, b.failed}, 3, 0, thread)
		c.prefix, c.shape, c.failed = "async", "(("+vec+", "+vec+"), "+vec+", u32[])", failed
		fmt.Fprintf(&s.b, "  %s = %s async-start(%s, %s)%s, calls=%s\n", c.name, c.shape, a.name, b.name, thread, body)
	}
	s.chains = append(s.chains, c)
	if g.r.IntN(4) == 0 {
		s.operand(c, a)
	}
}

// operand reads back the first operand of a chain, from its state or from that behind a call or branch that passes it on.
func (s *scope) operand(c chain, a value) {
	g := s.g
	state, name, n := c.name, g.name("o"), 1
	if g.r.IntN(3) == 0 {
		f := g.name("pass")
		fmt.Fprintf(&g.before, "%s {\n  t = %s parameter(0)\n  ROOT r = %s copy(t)\n}\n\n", f, c.shape, c.shape)
		fmt.Fprintf(&s.b, "  %s.c = %s call(%s), to_apply=%s\n", name, c.shape, state, f)
		state = name + ".c"
	}
	if strings.HasPrefix(c.shape, "(("+vec+", ") {
		n = 2
	}
	fmt.Fprintf(&s.b, "  %s.t = (%s) get-tuple-element(%s), index=0\n", name, strings.Join(slices.Repeat([]string{vec}, n), ", "), state)
	s.add(a.failed, "get-tuple-element(%s.t), index=0", name)
}

// done waits for some chain, which gets its last operand if it has not.
func (s *scope) done() {
	g := s.g
	i := g.r.IntN(len(s.chains))
	c := s.chains[i]
	s.chains = append(s.chains[:i], s.chains[i+1:]...)
	if c.late {
		b := s.pick()
		update := g.name("u")
		fmt.Fprintf(&s.b, "  %s = %s %s-update(%s, %s)\n", update, c.state, c.prefix, c.name, b.name)
		c.name, c.failed = update, c.failed || b.failed
	} else if g.r.IntN(4) == 0 {
		update := g.name("u")
		fmt.Fprintf(&s.b, "  %s = %s %s-update(%s)\n", update, c.shape, c.prefix, c.name)
		c.name = update
	}
	s.add(c.failed, "%s-done(%s)", c.prefix, c.name)
}

// body writes a computation from arrays to an array, some of which have failed.
func (g *generator) body(failed []bool, size, deep int, thread string) (name string, out bool) {
	s := &scope{g: g}
	for i, f := range failed {
		p := g.name("p")
		fmt.Fprintf(&s.b, "  %s = %s parameter(%d)\n", p, vec, i)
		s.values = append(s.values, value{p, f})
	}
	for range size {
		if thread == "" {
			s.instruction(deep)
		} else { // what is called on another thread says so, and starts there would have to
			a, b := s.pick(), s.pick()
			s.add(a.failed || b.failed, "add(%s, %s)", a.name, b.name)
		}
	}
	for len(s.chains) > 0 {
		s.done()
	}
	last := s.values[len(s.values)-1]
	name = g.name("c")
	root := g.name("r")
	fmt.Fprintf(&s.b, "  ROOT %s = %s negate(%s)\n", root, vec, last.name)
	if thread != "" {
		thread = `, execution_thread="side"`
	}
	fmt.Fprintf(&g.before, "%s {\n%s}%s\n\n", name, s.b.String(), thread)
	return name, last.failed
}

func (s *scope) call(deep int) {
	a, b := s.pick(), s.pick()
	body, failed := s.g.body([]bool{a.failed, b.failed}, 4, deep, "")
	s.add(failed, "call(%s, %s), to_apply=%s", a.name, b.name, body)
}

func (s *scope) branch(deep int) {
	g := s.g
	a, b, sel := s.pick(), s.pick(), s.pick()
	first, f1 := g.body([]bool{a.failed}, 3, deep, "")
	second, f2 := g.body([]bool{b.failed}, 3, deep, "")
	if f1 != f2 { // which is taken is not known here
		s.add(a.failed, "negate(%s)", a.name)
		return
	}
	one, zero, pred := g.name("e"), g.name("z"), g.name("q")
	fmt.Fprintf(&s.b, "  %s.s = f32[1] slice(%s), slice={[0:1]}\n  %s = f32[] reshape(%s.s)\n  %s = f32[] constant(0)\n  %s = pred[] compare(%s, %s), direction=GT\n",
		one, sel.name, one, one, zero, pred, one, zero)
	s.add(f1 || sel.failed, "conditional(%s, %s, %s), true_computation=%s, false_computation=%s", pred, a.name, b.name, first, second)
}

// beginElsewhere is a call, or a branch, that returns the chain of a negation it has begun. Only the state of a loop may be what it returns.
func (g *generator) beginElsewhere(x, shape, zero string) string {
	f := g.name("begin")
	fmt.Fprintf(&g.before, "%s {\n  x = %s parameter(0)\n  ROOT s = %s negate-start(x)\n}\n\n", f, vec, shape)
	if g.r.IntN(2) == 0 {
		return fmt.Sprintf("call(%s), to_apply=%s", x, f)
	}
	p := g.name("begin")
	fmt.Fprintf(&g.before, "%s {\n  x = %s parameter(0)\n  y = %s copy(x)\n  ROOT s = %s negate-start(y)\n}\n\n", p, vec, vec, shape)
	return fmt.Sprintf("conditional(%s, %s, %s), branch_computations={%s, %s}", zero, x, x, f, p)
}

// loop carries an array, and sometimes a chain that every round waits for and begins again.
func (s *scope) loop(deep int) {
	g := s.g
	a := s.pick()
	rounds := g.r.IntN(4)
	carries := g.r.IntN(2) == 0
	body, failed := g.body([]bool{a.failed}, 3, deep, "")
	failed = failed && rounds > 0 || a.failed
	loop := g.name("l")
	state, shape := "(s32[], "+vec+")", "(("+vec+"), "+vec+", u32[])"
	if carries {
		state = "(s32[], " + vec + ", " + shape + ")"
	}
	fmt.Fprintf(&g.before, "%s.cond {\n  t = %s parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant(%d)\n  ROOT lt = pred[] compare(i, n), direction=LT\n}\n\n", loop, state, rounds)
	fmt.Fprintf(&g.before, "%s.body {\n  t = %s parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = %s get-tuple-element(t), index=1\n", loop, state, vec)
	if carries {
		fmt.Fprintf(&g.before, "  s = %s get-tuple-element(t), index=2\n  d = %s negate-done(s)\n  y = %s call(x), to_apply=%s\n  z = %s maximum(y, d)\n  n = %s negate-start(x)\n  ROOT o = %s tuple(j, z, n)\n}\n\n",
			shape, vec, vec, body, vec, shape, state)
		b := s.pick()
		failed = failed || b.failed && rounds > 0
		left := g.r.IntN(3) == 0
		begin := fmt.Sprintf("negate-start(%s)", b.name)
		if left {
			begin = g.beginElsewhere(b.name, shape, loop+".z")
		}
		fmt.Fprintf(&s.b, "  %s.z = s32[] constant(0)\n  %s.s = %s %s\n  %s.t = %s tuple(%s.z, %s, %s.s)\n", loop, loop, shape, begin, loop, state, loop, a.name, loop)
		fmt.Fprintf(&s.b, "  %s.w = %s while(%s.t), condition=%s.cond, body=%s.body\n  %s.c = %s get-tuple-element(%s.w), index=2\n", loop, state, loop, loop, loop, loop, shape, loop)
		s.add(failed, "get-tuple-element(%s.w), index=1", loop)
		if left { // a second done would end the chain of the body twice
			return
		}
		last := b.failed
		if rounds > 0 { // it was begun on what the last round but one left
			last = failed || a.failed
		}
		if rounds == 1 {
			last = a.failed
		}
		s.add(last, "negate-done(%s.c)", loop)
		return
	}
	fmt.Fprintf(&g.before, "  y = %s call(x), to_apply=%s\n  ROOT o = %s tuple(j, y)\n}\n\n", vec, body, state)
	fmt.Fprintf(&s.b, "  %s.z = s32[] constant(0)\n  %s.t = %s tuple(%s.z, %s)\n  %s.w = %s while(%s.t), condition=%s.cond, body=%s.body\n",
		loop, loop, state, loop, a.name, loop, state, loop, loop, loop)
	s.add(failed, "get-tuple-element(%s.w), index=1", loop)
}
