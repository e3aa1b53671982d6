package async

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const placeholderDoc = `replace custom calls that stand for collectives by collectives

A custom call with the target all-gather-start (reduce-scatter, all-to-all, collective-permute, all-reduce in the same way) has the operand and result
of the collective, and its attributes as JSON in the frontend attribute async_collective_config:

	{"all_gather_dimension":0,"replica_groups":[[0,1]],"channel_id":1,"use_global_device_ids":true}

scatter_dimension, split_dimension and source_target_pairs are those of the other collectives; what all-reduce and reduce-scatter apply, the custom call calls. A
custom call with the target all-gather-done waits for it. Between the two there may be tuples, get-tuple-elements and barriers. They become a chain of the
general form or, with use-legacy-collectives, the pair of the collective's own opcodes, if it has any.`

// configKey is the frontend attribute with the attributes of the collective.
const configKey = "async_collective_config"

// NewPlaceholderRewriter makes the pass async-collective-custom-call-rewriter.
func NewPlaceholderRewriter(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("use-legacy-collectives"); err != nil {
		return nil, err
	}
	legacy, err := o.Bool("use-legacy-collectives")
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "async-collective-custom-call-rewriter", Doc: placeholderDoc, Options: o, Makes: []pass.Phase{pass.Async},
		Params: []pass.Param{{Name: "use-legacy-collectives", Doc: "make pairs of the collectives' own opcodes; false"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
				for done := range c.Instructions() {
					p, ok := findPlaceholder(done)
					if !ok {
						continue
					}
					attrs, err := p.attrs()
					if err != nil {
						return m, fmt.Errorf("%%%s: %s: %w", p.start.Name(), configKey, err)
					}
					if !ctx.Spend(p.op.String()) {
						continue
					}
					ctx.Passed(p.start, "%v is begun asynchronously: it gives %d bytes", p.op, bytesOf(p.done))
					if err := p.rewrite(e.Computation(c.ID()), attrs, legacy); err != nil {
						return m, err
					}
					ctx.Count(p.op.String(), 1)
				}
			}
			return e.Freeze(), nil
		}}, nil
}

// placeholder is a collective written as two custom calls.
type placeholder struct {
	op          hlo.Opcode
	start, done hlo.Instruction
	way         []hlo.Instruction // that hands the value on, from the start to the done
}

// findPlaceholder looks back from a custom call that waits for a collective.
func findPlaceholder(done hlo.Instruction) (p placeholder, ok bool) {
	name, ok := strings.CutSuffix(targetOf(done), "-done")
	if !ok || done.NumOperands() != 1 {
		return p, false
	}
	p.done = done
	if p.op, ok = hlo.OpcodeByName(name); !ok || !isCollective(p.op) {
		return p, false
	}
	var path []int64 // elements still to be taken, the outermost last
	for in := done.OperandInstr(0); ; {
		next := 0
		//halo:allow opswitch what hands an asynchronous value on is a list of its own
		switch op := in.Opcode(); {
		case op == hlo.OpCustomCall:
			p.start = in
			slices.Reverse(p.way)
			return p, len(path) == 0 && targetOf(in) == name+"-start" && p.onlyWay()
		case op == hlo.OpGetTupleElement:
			path = append(path, hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
		case op == hlo.OpTuple && len(path) > 0 && path[len(path)-1] < int64(in.NumOperands()):
			next, path = int(path[len(path)-1]), path[:len(path)-1]
		case op == hlo.OpOptBarrier:
		default:
			return p, false
		}
		p.way = append(p.way, in)
		in = in.OperandInstr(next)
	}
}

func targetOf(in hlo.Instruction) string {
	if in.Opcode() != hlo.OpCustomCall {
		return ""
	}
	return hlo.AttrsOf[hlo.CustomCallAttrs](in).Target
}

// onlyWay reports whether the value of the start goes nowhere else, so that it may have another shape on the way. Of a tuple with the value in it, other
// elements may be taken.
func (p placeholder) onlyWay() bool {
	steps := append(append([]hlo.Instruction{p.start}, p.way...), p.done)
	for i, in := range steps[:len(steps)-1] {
		next := steps[i+1]
		for user := range in.Users() {
			other := user.Opcode() == hlo.OpGetTupleElement && next.Opcode() == hlo.OpGetTupleElement &&
				hlo.AttrsOf[hlo.TupleElementAttrs](user).Index != hlo.AttrsOf[hlo.TupleElementAttrs](next).Index
			if user.ID() != next.ID() && !other {
				return false
			}
		}
		if in.IsRoot() || i > 0 && next.Opcode() != hlo.OpGetTupleElement && in.UserCount() != 1 {
			return false
		}
	}
	return true
}

// attrs are the attributes of the collective.
func (p placeholder) attrs() (hlo.OpAttrs, error) {
	text := ""
	if c := p.start.Common(); c != nil {
		text, _ = c.FrontendAttributes.Get(configKey)
	}
	var config struct {
		Gather  *int64    `json:"all_gather_dimension"`
		Scatter *int64    `json:"scatter_dimension"`
		Split   *int64    `json:"split_dimension"`
		Groups  [][]int64 `json:"replica_groups"`
		Pairs   [][]int64 `json:"source_target_pairs"`
		Channel *int64    `json:"channel_id"`
		Global  bool      `json:"use_global_device_ids"`
	}
	if text == "" {
		return nil, errors.New("it is missing")
	}
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		return nil, err
	}
	dims := func(d *int64) []int64 {
		if d == nil {
			return nil
		}
		return []int64{*d}
	}
	groups, channel := &hlo.ReplicaGroups{Lists: config.Groups}, hlo.OptInt{}
	if config.Channel != nil {
		channel = hlo.SomeInt(*config.Channel)
	}
	switch p.op {
	case hlo.OpAllGather:
		if config.Gather == nil {
			return nil, errors.New("all_gather_dimension is missing")
		}
		return &hlo.AllGatherAttrs{ChannelID: channel, ReplicaGroups: groups, Dimensions: dims(config.Gather), UseGlobalDeviceIDs: config.Global}, nil
	case hlo.OpReduceScatter:
		if config.Scatter == nil || p.start.NumCallees() != 1 {
			return nil, errors.New("want scatter_dimension, and one computation that is called")
		}
		return &hlo.ReduceScatterAttrs{ChannelID: channel, ReplicaGroups: groups, Dimensions: dims(config.Scatter), UseGlobalDeviceIDs: config.Global}, nil
	case hlo.OpAllReduce:
		if p.start.NumCallees() != 1 {
			return nil, errors.New("want one computation that is called")
		}
		return &hlo.AllReduceAttrs{ChannelID: channel, ReplicaGroups: groups, UseGlobalDeviceIDs: config.Global}, nil
	case hlo.OpAllToAll:
		return &hlo.AllToAllAttrs{ChannelID: channel, ReplicaGroups: groups, Dimensions: dims(config.Split)}, nil
	case hlo.OpCollectivePermute:
		return &hlo.CollectivePermuteAttrs{ChannelID: channel, SourceTargetPairs: config.Pairs}, nil
	}
	return nil, fmt.Errorf("%v cannot be written as a custom call", p.op)
}

// rewrite makes the collective where the start is, begins it, and moves the done to where it was.
func (p placeholder) rewrite(ce hlo.CompEdit, attrs hlo.OpAttrs, legacy bool) error {
	in := p.start
	plain := ce.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: p.op, Name: p.op.String(), Shape: p.done.Shape(), Operands: slices.Collect(in.OperandIDs()),
		Attrs: attrs, Callees: slices.Collect(in.Callees()), Control: slices.Collect(in.ControlPredecessors()), Common: withoutConfig(in.Common()), Position: in.Position()}).ID()
	holder := ce.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: hlo.MakeTuple(p.done.Shape()), Operands: []hlo.InstrID{plain}}).ID()
	var err error
	if pair := hlo.Info(p.op).Pair; legacy && !pair.IsZero() {
		err = makePair(ce, plain, pair)
	} else {
		_, err = begin(ce, plain, hlo.MainThread)
	}
	if err != nil {
		return err
	}
	early := ce.At(holder).Operand(0) // the done, behind its start
	spec, old := emit.Again(ce.At(early)), in.ID()
	last := spec.Operands[0]
	for _, step := range p.way {
		now := ce.At(step.ID())
		i := slices.Index(slices.Collect(now.OperandIDs()), old)
		shape := ce.At(last).Shape()
		switch now.Opcode() {
		case hlo.OpTuple:
			parts := now.Shape().Elems()
			parts[i] = shape
			shape = hlo.MakeTuple(parts...)
		case hlo.OpGetTupleElement:
			shape = shape.Elem(int(hlo.AttrsOf[hlo.TupleElementAttrs](now).Index))
		}
		ce.Instr(step.ID()).SetOperand(i, last).SetShape(shape)
		old, last = step.ID(), step.ID()
	}
	spec.Name, spec.Operands, spec.Position = p.done.Name(), []hlo.InstrID{last}, p.done.Position()
	late := ce.InsertSpecBefore(p.done.ID(), spec).ID()
	if err := ce.ReplaceInstruction(p.done.ID(), late); err != nil {
		return err
	}
	for id := range p.start.ControlPredecessors() {
		ce.Instr(in.ID()).RemoveControlPredecessor(id)
	}
	for _, id := range []hlo.InstrID{in.ID(), holder, early} {
		if err := ce.Remove(id); err != nil {
			return err
		}
	}
	return nil
}

// withoutConfig is what the custom call says about itself but for the attributes of the collective.
func withoutConfig(c *hlo.Common) *hlo.Common {
	left := *c
	list := *c.FrontendAttributes
	list.Entries = slices.DeleteFunc(slices.Clone(list.Entries), func(e hlo.FrontendAttribute) bool { return e.Key == configKey })
	left.FrontendAttributes = &list
	if len(list.Entries) == 0 {
		left.FrontendAttributes = nil
	}
	return &left
}
