package profile

import (
	"fmt"
	"io"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/timeline"
	"github.com/gohalo/halo/runtime"
)

// WriteTrace writes the steps that the meter kept as a timeline: a process for each device, a thread for each worker, a span for each op with its
// shape and origin, arrows from what makes a value to what reads it, and asynchronous chains as spans of their own from start to done.
func (p *Profile) WriteTrace(w io.Writer) error {
	t := &tracer{out: timeline.NewWriter(w), p: p, lanes: map[[2]int]bool{}, last: map[producer]runtime.MeterSpan{}}
	for i := range p.spans {
		t.span(&p.spans[i])
	}
	return t.out.Close()
}

// producer is an instruction in one execution of what it is in.
type producer struct {
	call *runtime.MeterCall
	id   hlo.InstrID
}

type tracer struct {
	out   *timeline.Writer
	p     *Profile
	flows int
	lanes map[[2]int]bool
	last  map[producer]runtime.MeterSpan // the latest execution of each instruction
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func (t *tracer) span(s *runtime.MeterSpan) {
	in := t.p.instr[s.Call][s.Step]
	if in.IsZero() {
		return
	}
	step := &s.Call.Steps[s.Step]
	o := t.p.find(s.Call, s.Step)
	if o == nil {
		return
	}
	lane := [2]int{s.Device, int(s.Worker)}
	t.name(lane)
	took := micros(s.End - s.Begin)
	args := map[string]any{"opcode": o.Opcode, "shape": o.Shape, "computation": o.Computation, "execution": s.Execution}
	if o.OpName != "" {
		args["op_name"] = o.OpName
	}
	if o.Source != "" {
		args["source"] = o.Source
	}
	if len(o.Of) > 0 {
		args["of"] = o.Of
	}
	if step.Evaluated {
		args["evaluated"] = true
	}
	t.out.Write(timeline.Event{Name: o.Name, Category: string(o.Kind), Phase: "X", Time: micros(s.Begin), Duration: took, Process: lane[0], Thread: lane[1], Args: args})
	for operand := range in.Operands() {
		t.flow(operand, s, lane)
	}
	if in.Opcode() == hlo.OpAsyncDone {
		t.chain(in, s, o)
	}
	t.last[producer{s.Call, in.ID()}] = *s
}

// name names a device and a worker when they are first seen.
func (t *tracer) name(lane [2]int) {
	if t.lanes[lane] {
		return
	}
	t.lanes[lane] = true
	t.out.Write(timeline.Event{Name: "process_name", Phase: "M", Process: lane[0], Args: map[string]any{"name": fmt.Sprintf("%s, device %d/%d", t.p.Module, lane[0]>>16, lane[0]&0xffff)}})
	t.out.Write(timeline.Event{Name: "thread_name", Phase: "M", Process: lane[0], Thread: lane[1], Args: map[string]any{"name": fmt.Sprintf("worker %d", lane[1])}})
}

// flow draws an arrow from what made an operand. Values that cost nothing to make, as elements of tuples, are looked through.
func (t *tracer) flow(operand hlo.Instruction, s *runtime.MeterSpan, lane [2]int) {
	from, ok := t.last[producer{s.Call, operand.ID()}]
	for depth := 0; !ok && depth < 8 && operand.NumOperands() == 1; depth++ {
		operand = operand.OperandInstr(0)
		from, ok = t.last[producer{s.Call, operand.ID()}]
	}
	if !ok || from.Execution != s.Execution || from.Device != s.Device {
		return
	}
	t.flows++
	name := operand.Name()
	if k, ok := t.p.index[stepKey{from.Call, from.Step}]; ok {
		name = t.p.Ops[k].Name
	}
	t.out.Write(timeline.Event{Name: name, Category: "flow", Phase: "s", Time: micros(from.End), Process: lane[0], Thread: int(from.Worker), ID: t.flows})
	t.out.Write(timeline.Event{Name: name, Category: "flow", Phase: "f", Bind: "e", Time: micros(s.Begin), Process: lane[0], Thread: lane[1], ID: t.flows})
}

// chain draws an asynchronous operation from the start of its chain to its done.
func (t *tracer) chain(done hlo.Instruction, s *runtime.MeterSpan, o *Op) {
	start := done
	for hlo.IsAsync(start.Opcode()) && start.Opcode() != hlo.OpAsyncStart && start.NumOperands() > 0 {
		start = start.OperandInstr(0)
	}
	from, ok := t.last[producer{s.Call, start.ID()}]
	if !ok {
		return
	}
	t.flows++
	args := map[string]any{"start": start.Name(), "done": done.Name(), "shape": o.Shape}
	t.out.Write(timeline.Event{Name: start.Name(), Category: "async", Phase: "b", Time: micros(from.Begin), Process: s.Device, ID: t.flows, Args: args})
	t.out.Write(timeline.Event{Name: start.Name(), Category: "async", Phase: "e", Time: micros(s.End), Process: s.Device, ID: t.flows})
}

// find is the op of a step.
func (p *Profile) find(c *runtime.MeterCall, step int) *Op {
	if k, ok := p.index[stepKey{c, step}]; ok {
		return &p.Ops[k]
	}
	return nil
}

// stepKey is a step of a call.
type stepKey struct {
	call *runtime.MeterCall
	step int
}
