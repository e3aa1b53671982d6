package eval

import (
	"context"

	"github.com/gohalo/halo/hlo"
)

// Collective is a collective op for engines that let devices meet without blocking: who takes part in it, and what each gets.
type Collective struct {
	p *Prepared
	k *collective
	// Common says that all members of a group get the same.
	Common bool
}

// PrepareCollective readies an instruction of m; ok is false if it is no collective.
func PrepareCollective(m hlo.Module, in hlo.Instruction) (c *Collective, ok bool) {
	k := collectives[in.Opcode()]
	if k == nil {
		return nil, false
	}
	return &Collective{Prepare(m, in), k, k.common}, true
}

// Group is the devices that take part with one, in rank order; none if it meets nobody.
func (c *Collective) Group(ctx context.Context, on On) ([]Device, error) {
	st := c.p.state(ctx, on)
	defer c.p.put(st)
	return c.k.group(&Call{In: c.p.in, e: st.e, s: &st.s})
}

// Result is what a device gets from what the members of its group bring, by rank, and from its own operands. It may share memory with
// them.
func (c *Collective) Result(ctx context.Context, on On, group []Device, operands []*hlo.Literal, brought [][]*hlo.Literal) (*hlo.Literal, error) {
	st := c.p.state(ctx, on)
	defer c.p.put(st)
	return c.k.apply(&Call{In: c.p.in, Args: operands, e: st.e, s: &st.s}, group, brought)
}
