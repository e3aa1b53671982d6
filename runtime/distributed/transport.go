package distributed

import (
	"context"
	"errors"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// Transport carries between the processes of a job what the devices of one execution bring to their meetings. It is a [devices.Transport].
type Transport struct {
	job  *Job
	plan *plan
	mesh *devices.Mesh
}

// NewTransport makes the transport of an execution of a module, after all processes have agreed that they execute the same: identify says what.
// It takes part in one execution, and has to be closed after that: another one at the same time is an error.
func (j *Job) NewTransport(ctx context.Context, m hlo.Module, g devices.Grid, identify func() (Identity, error)) (*Transport, error) {
	if err := j.Err(); err != nil {
		return nil, err
	}
	if !j.executing.CompareAndSwap(false, true) {
		return nil, errors.New("the processes execute another program: a job has one execution at a time")
	}
	if j.plan == nil || j.plan.module != m || j.plan.grid != g {
		id, err := identify()
		if err == nil {
			err = j.agree(ctx, id)
		}
		if err == nil {
			j.plan, err = j.newPlan(ctx, m, g)
		}
		if err != nil {
			j.plan = nil
			j.executing.Store(false)
			j.Fail(err)
			return nil, err
		}
	}
	return &Transport{job: j, plan: j.plan}, nil
}

// Close says that the execution is over.
func (x *Transport) Close() { x.job.executing.Store(false) }

// Bind makes the mesh fail when the job does, and tells other processes where its devices are when they ask.
func (x *Transport) Bind(m *devices.Mesh) {
	x.mesh = m
	x.job.failing(func() { m.Fail(x.job.Err()) })
	x.job.mu.Lock()
	x.job.status = m.Waits
	x.job.mu.Unlock()
}

// Holds reports whether a device runs in this process.
func (x *Transport) Holds(d devices.Device) bool { return x.plan.rank(d) == x.job.rank }

// Fail reports the failure to the other processes.
func (x *Transport) Fail(err error) { x.job.Fail(err) }

// Exchange brings the members of a meeting what they need of each other, or folds what they bring.
func (x *Transport) Exchange(t *devices.Meeting, done func(error)) {
	to, planned := x.plan.exchanges[exchangeKey{devices.SiteOf(t.In), t.Group[0]}]
	fold := folder(t)
	if planned && fold != nil {
		x.reduce(t, fold, to, done)
		return
	}
	go func() {
		if !planned {
			done(fmt.Errorf("the collective is not part of the program that the processes agreed on"))
			return
		}
		memory, err := x.gather(t, newTask(t.Name, t.Count), to)
		done(err)
		x.plan.free.put(memory...)
	}()
}

// foldLimit is the number of bytes up to which everybody gets everything and folds all of it: one round instead of two.
const foldLimit = 16 << 10

// folder is a visitor that folds, if each process is to fold a part.
func folder(t *devices.Meeting) *devices.Visitor {
	size := int64(0)
	for i := range t.In.NumOperands() {
		s := t.In.OperandInstr(i).Shape()
		if !s.IsArray() || !s.IsStatic() {
			return nil
		}
		size += s.ByteSize()
	}
	for _, v := range t.Visitors {
		if v != nil && v.Fold != nil && size > foldLimit {
			return v
		}
	}
	return nil
}

// letter is where a letter travels, and its name in reports.
func (x *Transport) letter(l devices.Letter) (peerOfSender, peerOfReceiver, tag int, w *task) {
	from, to := x.plan.grid.Number(l.From), x.plan.grid.Number(l.To)
	q := x.plan.perRank
	return from / q, to / q, (x.plan.channels[l.Channel]*q+from%q)*q + to%q,
		newTask(fmt.Sprintf("channel %d from %s to %s", l.Channel, x.plan.grid.Name(l.From), x.plan.grid.Name(l.To)), 0)
}

// Send sends a letter to a device of another process.
func (x *Transport) Send(l devices.Letter, v *hlo.Literal, done func(error)) {
	_, to, tag, w := x.letter(l)
	b := newBatch(w)
	b.sendPieces(x.plan.letters, to, tag, v.Bytes())
	x.job.begin(b)
	go func() { done(b.wait()) }()
}

// Receive asks for the next letter from a device of another process.
func (x *Transport) Receive(l devices.Letter, s hlo.Shape, done func(*hlo.Literal, error)) {
	from, _, tag, w := x.letter(l)
	b := newBatch(w)
	data := make([]byte, s.ByteSize())
	b.receivePieces(x.plan.letters, from, tag, data)
	x.job.begin(b)
	go func() {
		err := b.wait()
		var v *hlo.Literal
		if err == nil {
			v, err = hlo.NewLiteral(s, data)
		}
		done(v, err)
	}()
}
