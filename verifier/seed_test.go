package verifier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// The chains that the document on async ops shows, for several ops in place of its `op`, in every form in which they can be written, and
// with every single fault.

// seedOp stands for the op that runs asynchronously.
type seedOp struct {
	word, attrs string
	operands    []string
	result      string
	called      string // computations that attrs name
}

var seedOps = []seedOp{
	{word: "slice", attrs: "slice={[0:32]}", operands: []string{"f32[64]"}, result: "f32[32]"},
	{word: "custom-call", attrs: `custom_call_target="foo"`, operands: []string{"f32[64]"}, result: "f32[32]"},
	{word: "custom-call", attrs: `custom_call_target="foo"`, operands: []string{"f32[64]", "f32[64]"}, result: "(f32[32], f32[32])"},
	{word: "negate", operands: []string{"f32[64]"}, result: "f32[64]"},
	{word: "dot", attrs: "lhs_contracting_dims={0}, rhs_contracting_dims={0}", operands: []string{"f32[64]", "f32[64]"}, result: "f32[]"},
	{
		word: "reduce", attrs: "dimensions={0}, to_apply=sum", operands: []string{"f32[64]", "f32[]"}, result: "f32[]",
		called: "sum {\n  sum.a = f32[] parameter(0)\n  sum.b = f32[] parameter(1)\n  ROOT sum.r = f32[] add(sum.a, sum.b)\n}\n\n",
	},
	{word: "all-to-all", attrs: "dimensions={0}, replica_groups={{0,1}}", operands: []string{"f32[64]"}, result: "f32[64]"},
}

// form is a way to write a chain.
type form struct {
	sugar bool // OP-start instead of async-start and a computation
	flat  bool // the only operand without a tuple around it
}

func (f form) String() string {
	return [2]string{"explicit", "sugar"}[b2i(f.sugar)] + " " + [2]string{"nested", "flat"}[b2i(f.flat)]
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// step is an instruction of a chain.
type step struct {
	name, suffix string // suffix: start, update, done
	bound        []string
	result       string // element 1, or the shape of a done
	context      string
	operands     []string
	attrs        string
}

// seedChain is a chain under test: steps, and what stands around them.
type seedChain struct {
	op           seedOp
	form         form
	steps        []step
	before, more []string // further instructions
}

// chain is start, so many updates, done.
func chain(op seedOp, f form, updates int) *seedChain {
	c := &seedChain{op: op, form: f}
	start := step{name: "s", suffix: "start", bound: op.operands, result: op.result, context: "s32[]"}
	if f.sugar {
		start.attrs = op.attrs
	} else {
		start.attrs = "calls=body"
	}
	for i := range op.operands {
		start.operands = append(start.operands, fmt.Sprintf("x%d", i))
	}
	c.steps = append(c.steps, start)
	last := "s"
	for i := range updates {
		u := step{name: fmt.Sprintf("v%d", i), suffix: "update", bound: op.operands, result: op.result, context: "s32[]", operands: []string{last}}
		c.steps, last = append(c.steps, u), u.name
	}
	c.steps = append(c.steps, step{name: "d", suffix: "done", result: op.result, operands: []string{last}})
	return c
}

func (c *seedChain) step(name string) *step {
	i := slices.IndexFunc(c.steps, func(s step) bool { return s.name == name })
	return &c.steps[i]
}

// drop takes a step away.
func (c *seedChain) drop(name string) {
	c.steps = slices.DeleteFunc(c.steps, func(s step) bool { return s.name == name })
}

func (c *seedChain) String() string {
	var b strings.Builder
	b.WriteString("HloModule seed, replica_count=2\n\n" + c.op.called)
	attrs := ""
	if c.op.attrs != "" {
		attrs = ", " + c.op.attrs
	}
	if !c.form.sugar {
		b.WriteString("body {\n")
		var names []string
		for i, s := range c.op.operands {
			fmt.Fprintf(&b, "  p%d = %s parameter(%d)\n", i, s, i)
			names = append(names, fmt.Sprintf("p%d", i))
		}
		fmt.Fprintf(&b, "  ROOT r = %s %s(%s)%s\n}\n\n", c.op.result, c.op.word, strings.Join(names, ", "), attrs)
	}
	b.WriteString("ENTRY main {\n")
	for i, s := range c.op.operands {
		fmt.Fprintf(&b, "  x%d = %s parameter(%d)\n", i, s, i)
	}
	for _, line := range c.before {
		b.WriteString("  " + line + "\n")
	}
	for _, s := range c.steps {
		word := "async"
		if c.form.sugar {
			word = c.op.word
		}
		shape := s.result
		if s.suffix != "done" {
			shape = "(" + c.bound(s.bound) + ", " + s.result + ", " + s.context + ")"
		}
		if s.attrs != "" {
			s.attrs = ", " + s.attrs
		}
		fmt.Fprintf(&b, "  %s = %s %s-%s(%s)%s\n", s.name, shape, word, s.suffix, strings.Join(s.operands, ", "), s.attrs)
	}
	for _, line := range c.more {
		b.WriteString("  " + line + "\n")
	}
	b.WriteString("  ROOT nothing = () tuple()\n}\n")
	return b.String()
}

func (c *seedChain) bound(shapes []string) string {
	if c.form.flat && len(shapes) == 1 {
		return shapes[0]
	}
	return "(" + strings.Join(shapes, ", ") + ")"
}

// asyncValue is the shape of %s, for instructions that use it.
func (c *seedChain) asyncValue() string {
	return "(" + c.bound(c.op.operands) + ", " + c.op.result + ", s32[])"
}

// done is a line with another done of the value name.
func (c *seedChain) done(name, of string) string {
	word := "async"
	if c.form.sugar {
		word = c.op.word
	}
	return fmt.Sprintf("%s = %s %s-done(%s)", name, c.op.result, word, of)
}

func (c *seedChain) update(name, of string) string {
	return fmt.Sprintf("%s = %s %s-update(%s)", name, c.asyncValue(), map[bool]string{false: "async", true: c.op.word}[c.form.sugar], of)
}

// fault is one thing that can be wrong with a chain of two updates.
type fault struct {
	name string
	// The rules that say so, with the computation written and with sugar, where the steps say what the computation is.
	explicit, sugar string
	// In the flat form, what stands in the place of the operand must be its shape: the reader says so, as ASYNC-01.
	flat  bool
	apply func(*seedChain)
	skip  func(*seedChain) bool // true where the form cannot say it
}

const wrong = "f64[7]"

var faults = []fault{
	{"zero users of the start", "ASYNC-26", "ASYNC-26", false, func(c *seedChain) { c.drop("v0"); c.drop("v1"); c.drop("d") }, nil},
	{"zero users of an update", "ASYNC-27", "ASYNC-27", false, func(c *seedChain) { c.drop("d") }, nil},
	{"two users of the start, one a tuple", "ASYNC-S1", "ASYNC-S1", false, func(c *seedChain) {
		c.more = append(c.more, "t = ("+c.asyncValue()+") tuple(s)")
	}, nil},
	{"two users of the start, both updates", "ASYNC-27", "ASYNC-27", false, func(c *seedChain) { c.more = append(c.more, c.update("w", "s")) }, nil},
	{"two users of an update, one a tuple", "ASYNC-S1", "ASYNC-S1", false, func(c *seedChain) {
		c.more = append(c.more, "t = ("+c.asyncValue()+") tuple(v1)")
	}, nil},
	{"two dones of the start", "ASYNC-25", "ASYNC-25", false, func(c *seedChain) { c.more = append(c.more, c.done("e", "s")) }, nil},
	{"two dones of an update", "ASYNC-24", "ASYNC-24", false, func(c *seedChain) { c.more = append(c.more, c.done("e", "v1")) }, nil},
	{"a user that is no step", "ASYNC-21", "ASYNC-21", false, func(c *seedChain) {
		c.more = append(c.more, "n = "+c.asyncValue()+` custom-call(v0), custom_call_target="bar"`)
	}, nil},
	{"a done of a done", "ASYNC-32", "ASYNC-32", false, func(c *seedChain) { c.more = append(c.more, c.done("e", "d")) }, nil},
	{"an update after the done", "ASYNC-32", "ASYNC-32", false, func(c *seedChain) { c.more = append(c.more, c.update("w", "d")) }, nil},
	{"an update on another thread", "ASYNC-33", "ASYNC-33", false, func(c *seedChain) { c.step("v0").attrs = `async_execution_thread="other"` }, nil},
	{"a done on another thread", "ASYNC-33", "ASYNC-33", false, func(c *seedChain) { c.step("d").attrs = `async_execution_thread="other"` }, nil},
	{"a second start on another thread", "ASYNC-05", "", false, func(c *seedChain) {
		operands := strings.Join(c.step("s").operands, ", ")
		c.more = append(c.more, "z = "+c.asyncValue()+" async-start("+operands+`), calls=body, async_execution_thread="other"`, c.done("e", "z"))
	}, func(c *seedChain) bool { return c.form.sugar }},
	{"start: the operand's shape", "ASYNC-02", "ASYNC-07", true, func(c *seedChain) { c.step("s").bound = replaceAt(c.op.operands, 0, wrong) }, nil},
	{"start: the last operand's shape", "ASYNC-02", "ASYNC-07", true, func(c *seedChain) {
		c.step("s").bound = replaceAt(c.op.operands, len(c.op.operands)-1, wrong)
	}, nil},
	{"start: the result's shape", "ASYNC-03", "ASYNC-03", false, func(c *seedChain) { c.step("s").result = wrong }, nil},
	{"start: an operand too many", "ASYNC-02", "", false, func(c *seedChain) {
		s := c.step("s")
		s.bound, s.operands = append(slices.Clone(s.bound), "f32[64]"), append(slices.Clone(s.operands), "x0")
	}, func(c *seedChain) bool { return c.form.sugar || c.form.flat }},
	{"start: an operand that the shape does not have", "ASYNC-06", "", false, func(c *seedChain) {
		s := c.step("s")
		s.operands = append(slices.Clone(s.operands), "x0")
	}, func(c *seedChain) bool { return c.form.sugar || c.form.flat }},
	{"start: the operand is of another shape", "ASYNC-07", "ASYNC-07", true, func(c *seedChain) {
		c.before = append(c.before, fmt.Sprintf("y = %s parameter(%d)", wrong, len(c.op.operands)))
		c.step("s").operands = replaceAt(c.step("s").operands, 0, "y")
	}, nil},
	{"update: the operand's shape", "ASYNC-02", "ASYNC-02", true, func(c *seedChain) { c.step("v0").bound = replaceAt(c.op.operands, 0, wrong) }, nil},
	{"update: the result's shape", "ASYNC-03", "ASYNC-03", false, func(c *seedChain) { c.step("v0").result = wrong }, nil},
	{"update: operands are lost", "ASYNC-11", "ASYNC-11", false, func(c *seedChain) { c.step("v0").bound = nil }, func(c *seedChain) bool { return c.form.flat }},
	{"update: the result is lost", "ASYNC-12", "ASYNC-12", false, func(c *seedChain) { c.step("v0").result = "()" }, nil},
	{"update: an operand that the shape does not have", "ASYNC-13", "ASYNC-13", true, func(c *seedChain) {
		c.step("v0").operands = append(c.step("v0").operands, "x0")
	}, nil},
	{"done: the shape", "ASYNC-04", "ASYNC-03", false, func(c *seedChain) { c.step("d").result = wrong }, nil},
	{"done: an operand too many", "ASYNC-15", "ASYNC-15", false, func(c *seedChain) { c.step("d").operands = append(c.step("d").operands, "x0") }, nil},
	{"the last operand is never bound", "ASYNC-17", "ASYNC-17", false, func(c *seedChain) {
		n := len(c.op.operands) - 1
		c.step("s").operands = c.step("s").operands[:n]
		for i := range c.steps {
			if c.steps[i].suffix != "done" {
				c.steps[i].bound = c.op.operands[:n]
			}
		}
	}, func(c *seedChain) bool {
		return c.form.flat || c.form.sugar && c.op.word != "dot" && c.op.word != "slice" && c.op.word != "negate" // sugar of any number of operands has as many as are bound
	}},
	{"a step of another op", "", "ASYNC-33", false, func(c *seedChain) {
		c.drop("d")
		c.more = append(c.more, "d = "+c.op.result+" abs-done(v1)")
	}, func(c *seedChain) bool { return !c.form.sugar }},
}

func replaceAt(list []string, i int, with string) []string {
	out := slices.Clone(list)
	out[i] = with
	return out
}

// forms are the ways to write chains of an op. Several operands are always in a tuple.
func forms(op seedOp) []form {
	all := []form{{}, {sugar: true}}
	if len(op.operands) == 1 {
		all = append(all, form{flat: true}, form{sugar: true, flat: true})
	}
	return all
}

func TestSeedChains(t *testing.T) {
	legal, broken := 0, 0
	for _, op := range seedOps {
		for _, f := range forms(op) {
			name := fmt.Sprintf("%s of %d %v", op.word, len(op.operands), f)
			for updates := range 4 {
				text := chain(op, f, updates).String()
				found, refused := verdict(text, verifier.Config{})
				assert.NoError(t, refused, text)
				assert.Empty(t, found, "%s\n%s", name, text)
				legal++
			}
			for _, x := range faults {
				c := chain(op, f, 2)
				want := [2]string{x.explicit, x.sugar}[b2i(f.sugar)]
				if f.flat && x.flat {
					want = "ASYNC-01"
				}
				if want == "" || x.skip != nil && x.skip(c) {
					continue
				}
				x.apply(c)
				text := c.String()
				found, refused := verdict(text, verifier.Config{})
				broken++
				if refused != nil {
					assert.Equal(t, want, refusedBy(refused), "%s, %s\n%s\n%v", name, x.name, text, refused)
					continue
				}
				assert.Contains(t, rulesOf(found), want, "%s, %s\n%s\n%v", name, x.name, text, found)
			}
		}
	}
	t.Logf("%d legal chains, %d broken ones", legal, broken)
}

// Ops that have asynchronous opcodes of their own are not wrapped.
func TestSeedNativeOps(t *testing.T) {
	const sum = "sum {\n  sum.a = f32[] parameter(0)\n  sum.b = f32[] parameter(1)\n  ROOT sum.r = f32[] add(sum.a, sum.b)\n}\n\n"
	for _, op := range []seedOp{
		{word: "copy", operands: []string{"f32[64]"}, result: "f32[64]"},
		{word: "collective-permute", attrs: "source_target_pairs={{0,1},{1,0}}", operands: []string{"f32[64]"}, result: "f32[64]"},
		{word: "all-reduce", attrs: "replica_groups={{0,1}}, to_apply=sum", operands: []string{"f32[64]"}, result: "f32[64]", called: sum},
		{word: "all-gather", attrs: "replica_groups={{0,1}}, dimensions={0}", operands: []string{"f32[64]"}, result: "f32[128]"},
	} {
		for _, updates := range []int{0, 1, 2} {
			for _, f := range []form{{}, {flat: true}} {
				text := chain(op, f, updates).String()
				found, refused := verdict(text, verifier.Config{})
				assert.NoError(t, refused, text)
				assert.Equal(t, []string{"ASYNC-S2"}, rulesOf(found), text)
			}
			found, refused := verdict(chain(op, form{}, updates).String(), verifier.Config{Profile: verifier.XLA})
			assert.NoError(t, refused)
			assert.Empty(t, found)
		}
		_, err := parser.Parse("", chain(op, form{sugar: true}, 1).String())
		assert.ErrorContains(t, err, "Unknown opcode: "+op.word+"-update")
	}
}
