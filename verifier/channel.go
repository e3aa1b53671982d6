package verifier

import "github.com/gohalo/halo/hlo"

// Channels of send and recv (verifier 7.2).

func (r *run) channels() {
	for _, in := range r.linked {
		if !isTransfer(in.Opcode()) || r.isBad(in) {
			continue
		}
		a := hlo.AttrsOf[hlo.SendRecvAttrs](in)
		if !a.ChannelID.Set {
			continue
		}
		r.channelUser(in, a)
		if a.IsHostTransfer {
			r.hostChannel(in, a.ChannelID.Value)
		}
	}
}

// isTransfer reports whether op begins a transfer between two devices, or to or from the host: send and recv have no form in one step.
func isTransfer(op hlo.Opcode) bool {
	p := hlo.Info(op).Pair
	return p.Begins(op) && p.Plain == hlo.OpInvalid
}

func (r *run) channelUser(in hlo.Instruction, a hlo.SendRecvAttrs) {
	if in.IsRoot() && r.isAsyncBody(in.Computation().ID()) {
		return
	}
	if n := in.UserCount(); n != 1 {
		r.report(in, "CHAN-01", "%v of channel %d must have one user (users().size() == 1), found %d", in.Opcode(), a.ChannelID.Value, n)
		return
	}
	for u := range in.Users() {
		if u.Opcode() != hlo.Info(in.Opcode()).Pair.Done {
			continue
		}
		b := hlo.AttrsOf[hlo.SendRecvAttrs](u)
		switch {
		case a.ChannelID != b.ChannelID:
			r.report(u, "CHAN-02", "Expected to have the same channel id as %%%s, %d, got %d", in.Name(), a.ChannelID.Value, b.ChannelID.Value)
		case a.IsHostTransfer != b.IsHostTransfer:
			r.report(u, "CHAN-03", "Expected to have the same is-host-transfer property as %%%s", in.Name())
		}
	}
}

// hostChannel compares the transfers of one channel to or from the host: all must be the same but for their operands.
func (r *run) hostChannel(in hlo.Instruction, channel int64) {
	first, ok := r.hostTransfers[channel]
	if !ok {
		if r.hostTransfers == nil {
			r.hostTransfers = make(map[int64]hlo.Instruction)
		}
		r.hostTransfers[channel] = in
		return
	}
	same := first.Opcode() == in.Opcode() && first.Shape().Equal(in.Shape()) && first.NumOperands() == in.NumOperands() &&
		hlo.EqualAttrs(first.Attrs(), in.Attrs()) && hlo.EqualAttr(frontendAttrs(first), frontendAttrs(in))
	for i := 0; same && i < in.NumOperands(); i++ {
		same = first.OperandInstr(i).Shape().Equal(in.OperandInstr(i).Shape())
	}
	if !same {
		r.report(in, "CHAN-05", "host transfers of channel %d must be identical up to having different operands; %%%s differs", channel, first.Name())
	}
}

// frontendAttrs is the frontend attributes of in, empty when there are none.
func frontendAttrs(in hlo.Instruction) *hlo.FrontendAttributes {
	if c := in.Common(); c != nil && c.FrontendAttributes != nil {
		return c.FrontendAttributes
	}
	return &hlo.FrontendAttributes{}
}
