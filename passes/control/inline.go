// Package control holds the passes that change which computation calls which.
package control

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
	"github.com/gohalo/halo/passes/directive"
)

const inlinerDoc = `replace each call by a copy of its computation

Calls with a backend configuration, composites that are to be preserved, calls whose frontend attribute inlineable says "false" or "xla_late", calls inside
the computation of an asynchronous instruction, and bodies of Shardy's manual computations that have shardings inside, which are those of one
device's part, stay. The copies get the frontend attributes of the call, and its op_name goes in front
of theirs; the result gets its sharding, if it has none. A callee that nothing calls any more goes.

With share, calls of one callee in one computation share the copies that would be equal: those of instructions without effects whose operands
are the same as at the call before. It is what cse would find, found before the copies are made.`

var inlinerParams = []pass.Param{
	{Name: "share", Doc: "calls of a callee share the copies that would be equal; false"},
	{Name: "single-call-site", Doc: "only callees that one call runs; false"},
	{Name: "composites-to-preserve", Doc: "the names of composites that stay; none"},
	{Name: "update-domain", Doc: "read for XLA's sake: domains are not moved; false"},
}

// NewCallInliner makes the pass call-inliner.
func NewCallInliner(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("share", "single-call-site", "composites-to-preserve", "update-domain"); err != nil {
		return nil, err
	}
	single, err := o.Bool("single-call-site")
	if err != nil {
		return nil, err
	}
	share, err := o.Bool("share")
	if err != nil {
		return nil, err
	}
	composites, _ := o.List("composites-to-preserve")
	return &pass.Pass{Name: "call-inliner", About: []hlo.Opcode{hlo.OpCall}, Doc: inlinerDoc, Options: o, Params: inlinerParams, Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		manual := directive.MayHaveManual(m)
		return inlineAll(ctx, m, share, func(in hlo.Instruction) bool {
			return in.Opcode() == hlo.OpCall && !(manual && directive.IsManualBody(m, in)) && mayInline(in, composites) && (!single || calledOnce(m, in.Callee(0)))
		})
	}}, nil
}

func calledOnce(m hlo.Module, id hlo.CompID) bool {
	n := 0
	for range m.Callers(id) {
		n++
	}
	return n == 1
}

// FusionInliner takes fusions apart.
var FusionInliner = &pass.Pass{
	Name:   "fusion-inliner",
	About:  []hlo.Opcode{hlo.OpFusion},
	Breaks: []pass.Phase{pass.Fused},
	Doc: `replace each fusion by the instructions that it fuses

An optimised dump carries the fusions of the machine it was made for. What a fused computation means is what its instructions mean, so
it can run, and be fused anew, anywhere.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		return inlineAll(ctx, m, false, func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpFusion })
	},
}

// mayInline reports whether a call says nothing against it. Composites whose names are listed stay.
func mayInline(in hlo.Instruction, composites []string) bool {
	c := in.Common()
	if c == nil {
		return true
	}
	if name, named := c.FrontendAttributes.Get("composite.name"); named && hlo.AttrsOf[hlo.CallAttrs](in).IsComposite && slices.Contains(composites, name) {
		return false
	}
	v, _ := c.FrontendAttributes.Get("inlineable")
	return c.BackendConfig == "" && v != "false" && v != "xla_late"
}

// inlineAll inlines what want selects.
func inlineAll(ctx *pass.Context, m hlo.Module, share bool, want func(hlo.Instruction) bool) (hlo.Module, error) {
	i := &inlining{ctx: ctx, m: m, e: ctx.Edit(m), want: want, share: share}
	i.findDissolving(asyncComputations(m))
	for _, c := range i.order {
		if err := i.computation(c); err != nil {
			return m, err
		}
	}
	removeUncalled(i.e, &i.callees)
	return i.e.Freeze(), nil
}

// handSharding gives the sharding of a call to what takes its place, unless that has one.
func handSharding(c hlo.CompEdit, call *hlo.Common, root hlo.InstrID) {
	if call == nil || call.Sharding == nil {
		return
	}
	var own hlo.Common
	if at := c.At(root).Common(); at != nil {
		own = *at
	}
	if own.Sharding == nil {
		own.Sharding = call.Sharding
		c.Instr(root).SetCommon(&own)
	}
}

func callers(c hlo.Computation) (ids []hlo.InstrID) {
	for in := range c.Calls() {
		ids = append(ids, in.ID())
	}
	return ids
}

// removeUncalled removes callees that nothing calls any more, and then what they alone called.
func removeUncalled(e *hlo.Editor, callees *idmap.Set[hlo.CompID]) {
	todo := slices.Collect(callees.All())
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !callees.Has(id) || e.NumCallers(id) > 0 {
			continue
		}
		callees.Remove(id)
		todo = slices.AppendSeq(todo, e.View(id).Callees())
		e.RemoveComputation(id)
	}
}

// inheritance says what the copies of a callee's instructions get from the call: its frontend attributes, but those that say which composite it
// is, and its op_name in front of theirs. In loops, branches and calls that the callee alone runs, names change with it; but those of calls that are
// inlined themselves get them then, from the copy of the call.
func (i *inlining) inheritance(call hlo.Instruction) func(hlo.Instruction, *hlo.InstrSpec) {
	common := call.Common()
	if call.Opcode() != hlo.OpCall || common == nil {
		return nil
	}
	prefix := ""
	if common.Metadata != nil {
		prefix = common.Metadata.OpName
	}
	given := common.FrontendAttributes
	if hlo.AttrsOf[hlo.CallAttrs](call).IsComposite && given != nil {
		rest := slices.DeleteFunc(slices.Clone(given.Entries), func(a hlo.FrontendAttribute) bool { return strings.HasPrefix(a.Key, "composite.") })
		if given = nil; len(rest) > 0 {
			given = &hlo.FrontendAttributes{Entries: rest}
		}
	}
	alone := calledOnce(i.m, call.Callee(0))
	named := prefixing{prefix: prefix}
	return func(of hlo.Instruction, spec *hlo.InstrSpec) {
		if given != nil {
			own := &hlo.Common{}
			if spec.Common != nil {
				copied := *spec.Common
				own = &copied
			}
			own.FrontendAttributes = joined(own.FrontendAttributes, given)
			spec.Common = own
		}
		if prefix == "" {
			return
		}
		spec.Common = named.put(spec.Common)
		if alone && hlo.Info(spec.Opcode).Traits.Has(hlo.TraitControl) && !i.want(of) {
			for _, id := range spec.Callees {
				if i.m.CompIDLimit() > id && calledOnce(i.m, id) {
					named.putInside(i.e, id)
				}
			}
		}
	}
}

// joined is the pairs of own, and those of more with other keys.
func joined(own, more *hlo.FrontendAttributes) *hlo.FrontendAttributes {
	if own == nil {
		return more
	}
	all := slices.Clone(own.Entries)
	for _, entry := range more.Entries {
		if _, ok := own.Get(entry.Key); !ok {
			all = append(all, entry)
		}
	}
	slices.SortFunc(all, func(a, b hlo.FrontendAttribute) int { return strings.Compare(a.Key, b.Key) })
	return &hlo.FrontendAttributes{Entries: all}
}

func instructionIDs(c hlo.Computation) (ids []hlo.InstrID) {
	for in := range c.Instructions() {
		ids = append(ids, in.ID())
	}
	return ids
}

// asyncComputations is the set of computations that an async-start wraps.
func asyncComputations(m hlo.Module) map[hlo.CompID]bool {
	set := make(map[hlo.CompID]bool)
	for c := range m.Computations() {
		for in := range c.Calls() {
			if in.Opcode() == hlo.OpAsyncStart {
				set[in.Callee(0)] = true
			}
		}
	}
	return set
}

// InlineBefore copies the instructions of callee in front of instruction at, with args for its parameters, and returns what became of
// its root. Copies run after what at runs after by control dependencies.
func InlineBefore(ce hlo.CompEdit, at hlo.InstrID, callee hlo.Computation, args []hlo.InstrID) hlo.InstrID {
	root, _ := inline(ce, at, callee, args, nil, nil)
	return root
}

// inline is InlineBefore with a last word on each copy, and says what became of the others, too; shared and change may be nil.
func inline(ce hlo.CompEdit, at hlo.InstrID, callee hlo.Computation, args []hlo.InstrID, shared *sharing, change func(of hlo.Instruction, copy *hlo.InstrSpec)) (root hlo.InstrID, copied map[hlo.InstrID]hlo.InstrID) {
	control := slices.Collect(ce.At(at).ControlPredecessors())
	copied = make(map[hlo.InstrID]hlo.InstrID, callee.NumInstructions())
	for i, p := range callee.Parameters() {
		copied[p] = args[i]
	}
	again := shared.last(callee.ID(), copied)
	one := func(in hlo.Instruction) {
		if in.Opcode() == hlo.OpParameter {
			return
		}
		if id, ok := shared.copyOf(ce, in, again, copied); ok {
			copied[in.ID()] = id
			return
		}
		spec := Copy(ce.Editor(), in, copied)
		spec.Control = append(spec.Control, control...)
		if change != nil {
			change(in, &spec)
		}
		copied[in.ID()] = ce.InsertSpecBefore(at, spec).ID()
	}
	for in := range callee.OperandsFirst() {
		one(in)
	}
	return copied[callee.Root().ID()], copied
}
