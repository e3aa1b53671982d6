package verifier

import "github.com/gohalo/halo/hlo"

// Rules that XLA does not check and programs rely on (verifier section 10): opt-in, since modules that XLA accepts break them.

// executable reports whether rules without which an instruction has no value are checked: profile doc promises that what it accepts can be
// executed, and profile xla accepts what XLA accepts unless the option of the rules is on.
func (r *run) executable(option bool) bool { return option || r.cfg.Profile == Doc }

// beyond checks an instruction whose shape is right.
func (r *run) beyond(in hlo.Instruction) {
	c, op := &r.cfg, in.Opcode()
	info := hlo.Info(op)
	if c.ReducerSignatures && info.Traits.Has(hlo.TraitCollective|hlo.TraitApply) {
		r.reducerSignature(in)
	}
	switch {
	case r.executable(c.RNGState) && op == hlo.OpRngBitGenerator:
		r.rngState(in)
	case c.CollectiveGroups && info.Pair.Begins(op):
		if id := hlo.AttrsOf[hlo.AllReduceAttrs](in).ChannelID; id.Set && id.Value <= 0 {
			r.report(in, "HALO-CHANNEL", "the channel id of %v must be greater than 0, got %d", op, id.Value)
		}
	case c.CollectiveGroups && op == hlo.OpCollectiveBroadcast:
		r.broadcastGroups(in)
	case isTransfer(op):
		if i := in.NumOperands() - 1; c.TransferTokens && !in.OperandInstr(i).Shape().IsToken() {
			r.report(in, "HALO-TRANSFER", "operand %d of %v must be a token, got %v", i, op, in.OperandInstr(i).Shape())
		}
	}
}

// rngState checks the state of a random generator, and that it makes a tuple of state and bits.
func (r *run) rngState(in hlo.Instruction) {
	state, out := in.OperandInstr(0).Shape(), in.Shape()
	if !out.IsTuple() {
		r.report(in, "HALO-RNG", "rng-bit-generator gives a tuple of state and bits, got %v", out)
		return
	}
	if bits := out.Elem(1); !bits.IsArray() || !bits.Type().IsInteger() && !bits.Type().IsFloat() {
		r.report(in, "HALO-RNG", "random bits are integers or floating, got %v", bits)
		return
	}
	two, three := hlo.MakeShape(hlo.U64, 2), hlo.MakeShape(hlo.U64, 3)
	algorithm := hlo.AttrsOf[hlo.RngBitGeneratorAttrs](in).Algorithm
	if state.Compatible(two) || state.Compatible(three) && algorithm != hlo.RngThreeFry {
		return
	}
	want := "u64[2] or u64[3]"
	if algorithm == hlo.RngThreeFry {
		want = "u64[2]"
	}
	r.report(in, "HALO-RNG", "the state of %v is %s, got %v", algorithm, want, state)
}

// reducerSignature checks that the computation of a reducing collective takes two scalars and gives one.
func (r *run) reducerSignature(in hlo.Instruction) {
	f := r.signature(in.Callee(0))
	name := r.m.MustComputation(in.Callee(0)).Name()
	if len(f.Parameters) != 2 || !f.Result.IsScalar() || !f.Parameters[0].Compatible(f.Result) || !f.Parameters[1].Compatible(f.Result) {
		r.report(in, "HALO-REDUCER", "the computation of %v must be of the form (T[], T[]) -> T[], %%%s is not: it takes %v and gives %v", in.Opcode(), name, hlo.MakeTuple(f.Parameters...), f.Result)
		return
	}
	for i := range in.NumOperands() {
		if x := in.OperandInstr(i).Shape(); !hlo.SameTypeLenient(x.Type(), f.Result.Type()) {
			r.report(in, "HALO-REDUCER", "%%%s combines %v, operand %d is %v", name, f.Result, i, x)
			return
		}
	}
}

// broadcastGroups checks that the groups of a collective-broadcast name devices that exist, each once.
func (r *run) broadcastGroups(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.CollectiveBroadcastAttrs](in)
	if a.ReplicaGroups == nil {
		return
	}
	replicas, partitions := r.devices()
	limit := replicas
	if a.ChannelID.Set {
		limit = partitions
	}
	seen := make(map[int64]bool)
	for _, list := range a.ReplicaGroups.Lists {
		if len(list) == 0 {
			r.report(in, "HALO-GROUPS", "a replica group of collective-broadcast is empty")
			return
		}
		for _, id := range list {
			switch {
			case id < 0 || limit > 1 && id >= limit:
				r.report(in, "HALO-GROUPS", "replica groups of collective-broadcast name %d, which is no device of %d", id, limit)
				return
			case seen[id]:
				r.report(in, "HALO-GROUPS", "replica groups of collective-broadcast name %d twice", id)
				return
			}
			seen[id] = true
		}
	}
}
