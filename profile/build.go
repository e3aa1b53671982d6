package profile

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels"
)

// opKey tells ops apart: steps of one instruction in several places are one op.
type opKey struct {
	comp hlo.CompID
	id   hlo.InstrID
	kind Kind
}

// builder walks the calls.
type builder struct {
	p       *Profile
	program *runtime.Program
	config  Config
	costs   *analysis.Costs
	finder  *origin.Finder
	ops     map[opKey]int
}

// call adds the steps of a call below a node. Times are multiplied by scale, so that estimates of parts fit what the whole took; beside says that the call
// runs beside the program's own sequence of steps. It returns the time of that sequence.
func (b *builder) call(at *Node, c *runtime.MeterCall, scale float64, beside bool) (sum float64) {
	if c.Function == nil || c.Executions == 0 {
		return 0
	}
	runs := float64(max(b.config.Runs, 1))
	if c.Joining > 0 {
		joining := float64(c.Joining) * 1e-9 * scale / runs
		b.rest(Joining, joining, beside)
		sum += joining
	}
	b.p.instr[c] = make([]hlo.Instruction, len(c.Steps))
	for i := range c.Steps {
		s := &c.Steps[i]
		total := float64(s.Nanoseconds) * 1e-9 * scale / runs
		in, kind := b.kind(c, i)
		b.p.instr[c][i] = in
		if in.IsZero() || s.Nanoseconds <= 0 && s.Kernel < 0 {
			if !s.Beside {
				sum += total
			}
			b.rest(Dispatch, total, beside || s.Beside)
			continue
		}
		k := b.op(in, kind, s)
		b.p.index[stepKey{c, i}] = k
		node := &Node{Name: b.p.Ops[k].Name, Op: k, Parallel: s.Beside}
		below := 0.0
		if kind != Start {
			below = b.children(node, s, scale, total, beside || s.Beside)
		}
		own := max(total-below, 0)
		node.Seconds = max(total, below)
		o := &b.p.Ops[k]
		o.Calls += float64(c.Executions) / runs
		o.Seconds += own
		o.Total += node.Seconds
		if !s.Beside {
			sum += node.Seconds
		}
		if beside || s.Beside {
			b.p.Beside += own
		}
		if kind == Loop_ {
			b.loop(o, in, c, s, node.Seconds)
		}
		if node.Seconds > 0 {
			at.Children = append(at.Children, node)
		}
		if kind == Start {
			for _, callee := range s.Callees {
				side := &Node{Name: node.Name, Op: k, Parallel: true}
				if side.Seconds = b.call(side, callee, 1, true); side.Seconds > 0 {
					at.Children = append(at.Children, side)
				}
			}
		}
	}
	return sum
}

// rest adds time that belongs to no instruction. Such time beside the program's own steps is no part of a run.
func (b *builder) rest(name string, seconds float64, beside bool) {
	if seconds <= 0 || beside {
		return
	}
	for i := range b.p.Rest {
		if b.p.Rest[i].Name == name {
			b.p.Rest[i].Seconds += seconds
			return
		}
	}
	b.p.Rest = append(b.p.Rest, Rest{name, seconds})
}

// children adds what a step calls. Where the estimates of the parts are more than the whole took, they are made less.
func (b *builder) children(node *Node, s *runtime.MeterStep, scale, total float64, beside bool) (sum float64) {
	estimate := int64(0)
	for _, c := range s.Callees {
		estimate += c.Joining
		for i := range c.Steps {
			if !c.Steps[i].Beside {
				estimate += c.Steps[i].Nanoseconds
			}
		}
	}
	if seconds := float64(estimate) * 1e-9 * scale / float64(max(b.config.Runs, 1)); seconds > total {
		scale *= max(total, 0) / seconds
	}
	for _, c := range s.Callees {
		if c.Function == nil {
			continue
		}
		if len(s.Callees) == 1 {
			sum += b.call(node, c, scale, beside)
			continue
		}
		part := &Node{Name: c.Function.Location().Name, Op: -1}
		part.Seconds = b.call(part, c, scale, beside)
		sum += part.Seconds
		if part.Seconds > 0 {
			node.Children = append(node.Children, part)
		}
	}
	return sum
}

// loop adds a loop, or executions of one that is known already.
func (b *builder) loop(o *Op, in hlo.Instruction, c *runtime.MeterCall, s *runtime.MeterStep, seconds float64) {
	runs := float64(max(b.config.Runs, 1))
	executions := float64(c.Executions) / runs
	rounds := 0.0
	if len(s.Callees) == 2 && s.Callees[1].Executions > 0 {
		rounds = float64(s.Callees[1].Executions) / float64(c.Executions)
	} else if n, known := b.costs.Trips(in); known {
		rounds = float64(n)
	}
	o.Rounds = rounds
	l := Loop{Origin: o.Origin, Executions: executions, Rounds: rounds, Seconds: seconds, Compiled: s.Compiled}
	if rounds > 0 && executions > 0 {
		l.PerRound = seconds / (executions * rounds)
	}
	if s.Compiled {
		l.Inside = b.inside(in)
	}
	b.p.Loops = append(b.p.Loops, l)
}

// kind is the instruction that a step belongs to, and what it is.
func (b *builder) kind(c *runtime.MeterCall, i int) (hlo.Instruction, Kind) {
	s := &c.Steps[i]
	comp := b.computation(c.Function)
	if s.Kernel < 0 {
		if s.Returns {
			return comp.Root(), Return
		}
		return hlo.Instruction{}, ""
	}
	if in, ok := kernels.KernelInstruction(c.Function, b.program, s.Kernel); ok {
		if s.Suspends {
			return in, Wait
		}
		return in, Kernel
	}
	def := &b.program.File().Functions[c.Function.ID()].Kernels[s.Kernel]
	name := b.program.File().Locations.At(def.Loc).Name
	in, ok := comp.ByName(name)
	if !ok {
		return hlo.Instruction{}, ""
	}
	switch in.Opcode() {
	case hlo.OpWhile:
		return in, orCopy(b, def.Code, Loop_)
	case hlo.OpCall, hlo.OpConditional:
		return in, orCopy(b, def.Code, Call)
	case hlo.OpAsyncStart:
		return in, orCopy(b, def.Code, Start)
	case hlo.OpAsyncUpdate, hlo.OpAsyncDone:
		return in, orCopy(b, def.Code, Wait)
	}
	return in, Copy
}

// orCopy is kind, unless the kernel is a copy for the instruction and not the instruction.
func orCopy(b *builder, code bef.KernelCode, kind Kind) Kind {
	if b.program.File().Kernels[code] == "hlo.copy" {
		return Copy
	}
	return kind
}

// computation is that of a function of the file.
func (b *builder) computation(f *runtime.Function) hlo.Computation {
	c, ok := b.config.Module.ComputationByName(f.Location().Name)
	if !ok {
		return b.config.Module.Entry()
	}
	return c
}

// op is the number of an instruction's op.
func (b *builder) op(in hlo.Instruction, kind Kind, s *runtime.MeterStep) int {
	key := opKey{in.Computation().ID(), in.ID(), kind}
	if k, ok := b.ops[key]; ok {
		return k
	}
	o := Op{Origin: b.finder.Of(in).InText(), Kind: kind, Evaluated: s.Evaluated, Compiled: s.Compiled}
	switch kind {
	case Kernel, Wait, Loop_:
		if kind != Loop_ || s.Compiled {
			cost := b.costs.Of(in)
			o.Flops, o.Transcendentals, o.Bytes = cost.Flops, cost.Transcendentals, cost.Bytes
		}
	case Copy:
		o.Bytes = 2 * in.Shape().ByteSize()
	}
	b.ops[key] = len(b.p.Ops)
	b.p.Ops = append(b.p.Ops, o)
	return b.ops[key]
}

// workers numbers the goroutines that spans name, in the order of their first, and says which ones each op was seen on.
func (b *builder) workers() {
	spans := b.p.spans
	slices.SortStableFunc(spans, func(x, y runtime.MeterSpan) int { return cmp.Compare(x.Begin, y.Begin) })
	number := map[uintptr]int{}
	for i := range spans {
		s := &spans[i]
		n, ok := number[s.Worker]
		if !ok {
			n = len(number)
			number[s.Worker] = n
		}
		s.Worker = uintptr(n)
		if k, ok := b.p.index[stepKey{s.Call, s.Step}]; ok && !slices.Contains(b.p.Ops[k].Workers, n) {
			b.p.Ops[k].Workers = append(b.p.Ops[k].Workers, n)
			slices.Sort(b.p.Ops[k].Workers)
		}
	}
}
