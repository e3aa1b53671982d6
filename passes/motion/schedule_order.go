package motion

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

const hoisterDoc = `bring instructions of schedules forward: parameters and constants to the beginning, bitcasts and tuple elements to what they are taken from

What waits for an instruction that comes later, by a control dependency, stays where it is, and all others keep their order. Computations without a schedule stay, too.`

// NewInstructionHoister makes the pass instruction-hoister.
func NewInstructionHoister(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{
		{Name: "hoist-parameters", Doc: "bring parameters to the beginning; true"},
		{Name: "host-constants", Doc: "bring constants there, behind the parameters; true"},
		{Name: "hoist-bitcasts", Doc: "bring bitcasts to their operands; false"},
		{Name: "hoist-gtes", Doc: "bring elements of tuples to the tuples; false"},
	}
	known := make([]string, len(params))
	for i, p := range params {
		known[i] = p.Name
	}
	if err := o.Known(known...); err != nil {
		return nil, err
	}
	ops := []hlo.Opcode{hlo.OpParameter, hlo.OpConstant, hlo.OpBitcast, hlo.OpGetTupleElement} // in the order of the options
	var rising, following hlo.OpcodeSet
	for i, op := range ops {
		toTheTop := hlo.Info(op).Arity.Max == 0
		on, err := o.BoolOr(known[i], toTheTop)
		switch {
		case err != nil:
			return nil, err
		case on && toTheTop:
			rising = rising.With(hlo.OpcodesOf(op))
		case on:
			following = following.With(hlo.OpcodesOf(op))
		}
	}
	return &pass.Pass{Name: "instruction-hoister", Doc: hoisterDoc, Options: o, Params: params, Lent: true,
		Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
			v := c.View()
			if !v.IsScheduled() {
				return nil
			}
			q := newSequence(v)
			for _, op := range ops[:2] {
				for _, in := range q.all {
					if in.Opcode() == op && rising.Has(op) && q.isReady(in) {
						q.place(in)
					}
				}
			}
			for _, in := range slices.Clone(q.placed) {
				q.follow(in, following)
			}
			for _, in := range q.all {
				if !q.isPlaced[in.ID()] {
					q.place(in)
					q.follow(in, following)
				}
			}
			return q.write(ctx, c, "hoist")
		}}, nil
}

// ConstantDeferring puts constants where they are needed.
var ConstantDeferring = &pass.Pass{
	Name: "constant-deferring",
	Doc: `schedule each constant right before its first user

Constants without a user, and those that a control dependency holds, stay where they are. Computations without a schedule stay.`,
	About: []hlo.Opcode{hlo.OpConstant},
	Lent:  true,
	Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		v := c.View()
		if !v.IsScheduled() {
			return nil
		}
		q := newSequence(v)
		waits := func(in hlo.Instruction) bool {
			return in.Opcode() == hlo.OpConstant && in.UserCount() > 0 && !in.IsRoot() && in.NumControlPredecessors()+in.NumControlSuccessors() == 0
		}
		for _, in := range q.all {
			if waits(in) {
				continue
			}
			var due []hlo.Instruction
			for o := range in.Operands() {
				if !q.isPlaced[o.ID()] && waits(o) && !slices.Contains(due, o) {
					due = append(due, o)
				}
			}
			slices.SortFunc(due, q.compare)
			for _, o := range due {
				q.place(o)
			}
			q.place(in)
		}
		return q.write(ctx, c, "defer")
	},
}

// sequence is a schedule that is made from another one.
type sequence struct {
	all, placed []hlo.Instruction
	at          []int // by id: the place in the schedule as it was
	isPlaced    []bool
}

func newSequence(v hlo.Computation) *sequence {
	q := &sequence{all: slices.Collect(v.Instructions()), at: make([]int, v.IDLimit()), isPlaced: make([]bool, v.IDLimit())}
	for i, in := range q.all {
		q.at[in.ID()] = i
	}
	return q
}

func (q *sequence) compare(a, b hlo.Instruction) int { return cmp.Compare(q.at[a.ID()], q.at[b.ID()]) }

func (q *sequence) place(in hlo.Instruction) {
	q.placed = append(q.placed, in)
	q.isPlaced[in.ID()] = true
}

// isReady reports whether all that must come before an instruction that is not placed is.
func (q *sequence) isReady(in hlo.Instruction) bool {
	if q.isPlaced[in.ID()] {
		return false
	}
	for o := range in.OperandIDs() {
		if !q.isPlaced[o] {
			return false
		}
	}
	for o := range in.ControlPredecessors() {
		if !q.isPlaced[o] {
			return false
		}
	}
	return true
}

// follow places those users of a value that may follow it at once, each with its own users, in the order of the schedule as it was.
func (q *sequence) follow(in hlo.Instruction, ops hlo.OpcodeSet) {
	work := q.followers(in, ops)
	for len(work) > 0 {
		next := work[len(work)-1]
		work = work[:len(work)-1]
		if q.isReady(next) {
			q.place(next)
			work = append(work, q.followers(next, ops)...)
		}
	}
}

// followers are the users of some opcodes, the last of the schedule first.
func (q *sequence) followers(in hlo.Instruction, ops hlo.OpcodeSet) (list []hlo.Instruction) {
	if ops == (hlo.OpcodeSet{}) {
		return nil
	}
	for u := range in.Users() {
		if ops.Has(u.Opcode()) {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b hlo.Instruction) int { return q.compare(b, a) })
	return list
}

// write makes the sequence the schedule, if it is another one.
func (q *sequence) write(ctx *pass.Context, c hlo.CompEdit, rule string) error {
	if slices.Equal(q.placed, q.all) || !ctx.Spend(rule) {
		return nil
	}
	ids := make([]hlo.InstrID, len(q.placed))
	for i, in := range q.placed {
		ids[i] = in.ID()
	}
	ctx.Count("schedules", 1)
	return c.SetSchedule(ids)
}
