package collectives

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const permuteDecomposerDoc = `collective-permute → send and recv

It is done where the pairs make no circle: in a circle every device would wait for another. The order is recv, send, recv-done, and one channel after the other, so that all
devices do the same; latency-hiding-scheduler-preparation orders what else communicates. Without a channel the pairs are replicas, on channel 0.`

// NewCollectivePermuteDecomposer makes the pass collective-permute-decomposer.
func NewCollectivePermuteDecomposer(o pass.Options) (*pass.Pass, error) {
	const threshold = "threshold-in-bytes"
	if err := o.Known(threshold); err != nil {
		return nil, err
	}
	least, err := o.Int(threshold, 0)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "collective-permute-decomposer", Doc: permuteDecomposerDoc, Options: o, Lent: true,
		Params: []pass.Param{{Name: threshold, Doc: "leave smaller arrays as they are; 0"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			var where []hlo.CompID
			for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
				where = append(where, c.ID())
			}
			e := ctx.Edit(m)
			for _, id := range where {
				c, last := e.Computation(id), hlo.NoInstr
				var permutes []hlo.InstrID
				for in := range c.View().PostOrder() {
					if isPlainPermute(in) && in.Shape().ByteSize() >= int64(least) {
						permutes = append(permutes, in.ID())
					}
				}
				for _, p := range permutes {
					in := c.At(p)
					if pairs := hlo.AttrsOf[hlo.CollectivePermuteAttrs](in).SourceTargetPairs; hasCircle(pairs) {
						ctx.Missed(in, "not decomposed: its pairs make a circle")
						continue
					}
					if !ctx.Spend("permute") {
						continue
					}
					var err error
					if last, err = sendAndReceive(c, in, last); err != nil {
						return m, err
					}
					ctx.Count("permutes", 1)
				}
				if last != hlo.NoInstr {
					emit.Reorder(c)
				}
			}
			return e.Freeze(), nil
		}}, nil
}

// isPlainPermute reports whether an instruction sends one array as a whole.
func isPlainPermute(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpCollectivePermute && in.NumOperands() == 1 && in.Shape().IsArray() && in.Shape().IsStatic() && in.NumControlPredecessors() == 0 &&
		in.NumControlSuccessors() == 0 && !in.Computation().IsScheduled()
}

// hasCircle reports whether what some device sends comes back to it, handed on from device to device. Each device sends once and receives once.
func hasCircle(pairs [][]int64) bool {
	to := map[int64]int64{}
	for _, p := range pairs {
		to[p[0]] = p[1]
	}
	seen := map[int64]int{} // by which walk
	for i, p := range pairs {
		for at, more := p[0], true; more; at, more = next(to, at) {
			if seen[at] == i+1 {
				return true
			}
			if seen[at] > 0 {
				break
			}
			seen[at] = i + 1
		}
	}
	return false
}

func next(to map[int64]int64, at int64) (int64, bool) {
	n, ok := to[at]
	return n, ok
}

// sendAndReceive writes a permute behind the end of another transfer, and returns its own end.
func sendAndReceive(c hlo.CompEdit, in hlo.Instruction, behind hlo.InstrID) (hlo.InstrID, error) {
	a := hlo.AttrsOf[hlo.CollectivePermuteAttrs](in)
	at, x, name, data := emit.Before(c, in), in.Operand(0), in.Name(), in.Shape()
	on := &hlo.SendRecvAttrs{ChannelID: hlo.OptInt{Value: a.ChannelID.Value, Set: true}}
	common := hlo.Common{FrontendAttributes: withPairs(in.Common(), a.SourceTargetPairs)}
	if in.Common() != nil {
		common.Metadata = in.Common().Metadata
	}
	token := hlo.MakeToken()
	part := func(op hlo.Opcode, suffix string, s hlo.Shape, operands []hlo.InstrID, behind ...hlo.InstrID) hlo.InstrID {
		spec := hlo.InstrSpec{Opcode: op, Name: name + suffix, Shape: s, Operands: operands, Attrs: on, Common: &common}
		for _, id := range behind {
			if id != hlo.NoInstr {
				spec.Control = append(spec.Control, id)
			}
		}
		return at.Spec(spec)
	}
	flight := hlo.MakeTuple(data, hlo.MakeShape(hlo.U32), token)
	start := at.Spec(hlo.InstrSpec{Opcode: hlo.OpAfterAll, Name: name + "-after-all", Shape: token})
	recv := part(hlo.OpRecv, "-recv", flight, []hlo.InstrID{start}, behind)
	send := part(hlo.OpSend, "-send", flight, []hlo.InstrID{x, start}, recv)
	recvDone := part(hlo.OpRecvDone, "-recv-done", hlo.MakeTuple(data, token), []hlo.InstrID{recv}, send)
	sendDone := part(hlo.OpSendDone, "-send-done", token, []hlo.InstrID{send})
	return sendDone, emit.Forward(c, in.ID(), at.Element(recvDone, 0))
}

// withPairs adds to frontend attributes between which devices a channel runs.
func withPairs(c *hlo.Common, pairs [][]int64) *hlo.FrontendAttributes {
	var all []hlo.FrontendAttribute
	if c != nil && c.FrontendAttributes != nil {
		all = slices.Clone(c.FrontendAttributes.Entries)
	}
	var text []string
	for _, p := range pairs {
		text = append(text, fmt.Sprintf("{%d,%d}", p[0], p[1]))
	}
	return &hlo.FrontendAttributes{Entries: append(all, hlo.FrontendAttribute{Key: "_xla_send_recv_source_target_pairs", Value: "{" + strings.Join(text, ",") + "}"})}
}
