package control

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
	"github.com/gohalo/halo/passes/emit"
)

const callSplitterDoc = `call(f) → call(f1), call(f2): a computation in two parts

	split-direction=down   f2 is what depends on a boundary instruction, and the boundary
	split-direction=up     f1 is what a boundary instruction depends on, and the boundary

Without a boundary the instruction in the middle of what the computation computes is one: the last of the first half, or with down the first of the second.

f1 gives what f2 and the result need of it. Sites that call the same computation call the same parts. Every value that the parts exchange has to be one that can be
handed over: not an asynchronous operation under way. Schedules are not cut.`

// NewCallSplitter makes the pass call-splitter.
func NewCallSplitter(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{
		{Name: "boundary-predicate", Doc: "the opcodes to cut at, as in [dot,all-gather]; the middle"},
		{Name: "call-predicate", Doc: "the computations whose calls are split, as in [layer,head], or true for all; true"},
		{Name: "split-direction", Doc: "down: the boundary is in the second part; up: in the first; down"},
	}
	if err := o.Known("boundary-predicate", "call-predicate", "split-direction"); err != nil {
		return nil, err
	}
	s := splitter{}
	switch d := o.Text("split-direction", "down"); d {
	case "down", "DOWN":
	case "up", "UP":
		s.up = true
	default:
		return nil, fmt.Errorf("split-direction=%s: want down or up", d)
	}
	if list, ok := o.List("boundary-predicate"); ok {
		s.boundary = map[hlo.Opcode]bool{}
		for _, name := range list {
			op, ok := hlo.OpcodeByName(name)
			if !ok {
				return nil, fmt.Errorf("boundary-predicate: %s is not an opcode", name)
			}
			s.boundary[op] = true
		}
	}
	if list, ok := o.List("call-predicate"); ok && !slices.Equal(list, pass.List{"true"}) {
		s.only = list
	}
	return &pass.Pass{Name: "call-splitter", Doc: callSplitterDoc, Options: o, Params: params, Lent: true, Run: s.run}, nil
}

type splitter struct {
	boundary map[hlo.Opcode]bool // nil: what is in the middle
	only     []string            // names of computations; nil: all
	up       bool
}

func (s splitter) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	type job struct {
		callee hlo.CompID
		sites  []site
	}
	var jobs []job // callees first: a part that is copied has its own calls split already
	closed := pass.Fact(ctx, m, analysis.FindClosed)
	for c := range m.PostOrder() {
		if s.only != nil && !slices.Contains(s.only, c.Name()) || closed.Has(c.ID()) {
			continue
		}
		if calls := callsAmong(m, c.ID()); len(calls) > 0 {
			jobs = append(jobs, job{c.ID(), calls})
		}
	}
	e := ctx.Edit(m)
	var gone idmap.Set[hlo.CompID]
	for _, j := range jobs {
		cut := s.cut(e.View(j.callee))
		if why := cut.refused(e.View(j.callee)); why != "" {
			if why != nothingToCut {
				ctx.Missed(e.View(j.callee).Root(), "not split: %s", why)
			}
			continue
		}
		if !ctx.Spend("callee") {
			continue
		}
		first, second := cut.first(e), cut.second(e)
		for _, at := range j.sites {
			if err := cut.replace(e.Computation(at.comp), at.id, first, second); err != nil {
				return m, err
			}
		}
		gone.Add(j.callee)
		ctx.Count("calls", int64(len(j.sites)))
	}
	removeUncalled(e, &gone)
	return e.Freeze(), nil
}

// callsAmong lists the calls among what runs a computation, but for composites and those that a backend has configured: they stand for something else.
func callsAmong(m hlo.Module, id hlo.CompID) (sites []site) {
	for comp, in := range m.Callers(id) {
		at := m.MustComputation(comp).MustAt(in)
		if at.Opcode() == hlo.OpCall && !hlo.AttrsOf[hlo.CallAttrs](at).IsComposite && (at.Common() == nil || at.Common().BackendConfig == "") {
			sites = append(sites, site{comp, in})
		}
	}
	return sites
}

// cutting is a computation in two parts.
type cutting struct {
	id       hlo.CompID
	late     map[hlo.InstrID]bool // of the second part
	params   []hlo.InstrID
	exchange []hlo.InstrID // what the first part gives, and to what the second one reads of it, in this order
	results  []hlo.InstrID // what the result is made of: the operands of a tuple, or the root
	tuple    bool
	early    int  // instructions of the first part
	ordered  bool // a control dependency goes from one to the other
	flies    bool // what is exchanged is an operation under way
}

// cut divides a computation.
func (s splitter) cut(c hlo.Computation) *cutting {
	k := &cutting{id: c.ID(), late: map[hlo.InstrID]bool{}, params: c.Parameters()}
	root := c.Root()
	k.tuple = root.Opcode() == hlo.OpTuple && !s.boundary[hlo.OpTuple] && root.NumControlPredecessors() == 0 && root.UserCount() == 0
	k.results = []hlo.InstrID{root.ID()}
	if k.tuple {
		k.results = slices.Collect(root.OperandIDs())
	}
	order := slices.Collect(c.PostOrder())
	middle := s.middle(order, k.tuple)
	atBoundary := func(in hlo.Instruction) bool {
		return s.boundary[in.Opcode()] || s.boundary == nil && in.ID() == middle
	}
	if s.up {
		for _, in := range order {
			k.late[in.ID()] = !k.isParameter(in)
		}
		for _, in := range slices.Backward(order) { // users first
			early := atBoundary(in)
			for u := range in.Users() {
				early = early || !k.late[u.ID()]
			}
			for u := range in.ControlSuccessors() {
				early = early || !k.late[u]
			}
			if early {
				k.late[in.ID()] = false
			}
		}
	} else {
		for _, in := range order {
			late := atBoundary(in)
			for o := range in.OperandIDs() {
				late = late || k.late[o]
			}
			for p := range in.ControlPredecessors() {
				late = late || k.late[p]
			}
			k.late[in.ID()] = late
		}
	}
	k.connect(c, order)
	return k
}

// middle is the instruction to cut at where no boundary is named: the last of the first half of what a computation computes, or the first of the second.
func (s splitter) middle(order []hlo.Instruction, tuple bool) hlo.InstrID {
	computing := slices.DeleteFunc(slices.Clone(order), func(in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpParameter || in.Opcode() == hlo.OpConstant || tuple && in.IsRoot()
	})
	half := (len(computing) + 1) / 2
	switch {
	case len(computing) < 2:
		return hlo.NoInstr
	case s.up:
		return computing[half-1].ID()
	}
	return computing[half].ID()
}

func (k *cutting) isParameter(in hlo.Instruction) bool { return in.Opcode() == hlo.OpParameter }

// connect finds what the parts exchange.
func (k *cutting) connect(c hlo.Computation, order []hlo.Instruction) {
	given, flying := map[hlo.InstrID]bool{}, map[hlo.InstrID]bool{}
	give := func(in hlo.Instruction) {
		if !given[in.ID()] && !k.late[in.ID()] && !k.isParameter(in) {
			given[in.ID()] = true
			k.exchange = append(k.exchange, in.ID())
			k.flies = k.flies || flying[in.ID()]
		}
	}
	for _, in := range order {
		traits := hlo.Info(in.Opcode()).Traits
		flying[in.ID()] = traits.Has(hlo.TraitAsyncStart)
		for o := range in.OperandIDs() {
			flying[in.ID()] = flying[in.ID()] || flying[o] && (traits.Has(hlo.TraitCarriesAsync) || in.Opcode() == hlo.OpAsyncUpdate)
		}
		if k.tuple && in.ID() == c.Root().ID() || k.isParameter(in) {
			continue
		}
		if !k.late[in.ID()] {
			k.early++
			continue
		}
		for o := range in.Operands() {
			if !isCopied(o) {
				give(o)
			}
		}
		for p := range in.ControlPredecessors() {
			k.ordered = k.ordered || !k.late[p]
		}
	}
	for _, id := range k.results {
		give(c.MustAt(id))
	}
}

const nothingToCut = "one part would have all instructions"

// refused says why a computation stays whole, "" if it does not.
func (k *cutting) refused(c hlo.Computation) string {
	late := 0
	for _, in := range k.late {
		if in {
			late++
		}
	}
	if k.tuple && k.late[c.Root().ID()] {
		late--
	}
	switch {
	case late == 0 || k.early == 0:
		return nothingToCut
	case c.IsScheduled():
		return "it is scheduled"
	case k.flies:
		return "an asynchronous operation would begin in one part and end in the other"
	}
	return ""
}

// first makes the part that comes first, and gives what is read of it.
func (k *cutting) first(e *hlo.Editor) hlo.CompID {
	return k.part(e, k.params, false, k.exchange)
}

// second makes the part that reads what the first one gave behind the parameters.
func (k *cutting) second(e *hlo.Editor) hlo.CompID {
	return k.part(e, slices.Concat(k.params, k.exchange), true, slices.DeleteFunc(slices.Clone(k.results), func(id hlo.InstrID) bool { return !k.late[id] }))
}

func (k *cutting) part(e *hlo.Editor, from []hlo.InstrID, late bool, results []hlo.InstrID) hlo.CompID {
	v := e.View(k.id)
	b := e.NewComputation(v.Name() + map[bool]string{false: ".first", true: ".second"}[late])
	b.SetExecutionThread(v.ExecutionThread())
	copied := map[hlo.InstrID]hlo.InstrID{}
	for i, id := range from {
		in := v.MustAt(id)
		spec := hlo.InstrSpec{Opcode: hlo.OpParameter, Name: in.Name(), Shape: in.Shape(), Attrs: &hlo.ParameterAttrs{Number: int64(i)}, Position: in.Position()}
		if k.isParameter(in) {
			spec.Common = in.Common()
		}
		copied[id] = b.Append(spec)
	}
	for in := range v.PostOrder() {
		if _, has := copied[in.ID()]; has || k.isParameter(in) || k.tuple && in.IsRoot() || k.late[in.ID()] != late && !(late && k.isRepeated(in)) {
			continue
		}
		copied[in.ID()] = b.Append(k.copy(e, in, copied))
	}
	out := hlo.InstrSpec{Opcode: hlo.OpTuple}
	var shapes []hlo.Shape
	for _, id := range results {
		out.Operands = append(out.Operands, copied[id])
		shapes = append(shapes, v.MustAt(id).Shape())
	}
	out.Shape = hlo.MakeTuple(shapes...)
	return b.Finish(b.Append(out))
}

// isRepeated reports whether the second part has an instruction of its own of a value that depends on nothing.
func (k *cutting) isRepeated(in hlo.Instruction) bool {
	if !isCopied(in) {
		return false
	}
	for u := range in.Users() {
		if k.late[u.ID()] {
			return true
		}
	}
	return false
}

// copy copies an instruction, without the control predecessors that are in the other part: its whole call comes after the other.
func (k *cutting) copy(e *hlo.Editor, in hlo.Instruction, copied map[hlo.InstrID]hlo.InstrID) hlo.InstrSpec {
	spec := Copy(e, in, copied)
	spec.Control = nil
	for p := range in.ControlPredecessors() {
		if to, has := copied[p]; has && k.late[p] == k.late[in.ID()] {
			spec.Control = append(spec.Control, to)
		}
	}
	return spec
}

// replace puts the two calls in the place of one.
func (k *cutting) replace(c hlo.CompEdit, id hlo.InstrID, first, second hlo.CompID) error {
	in := c.At(id)
	at, operands := emit.Before(c, in), slices.Collect(in.OperandIDs())
	call := emit.Again(in)
	call.Shape = hlo.Shape{}
	made := func(f hlo.CompID, operands []hlo.InstrID) hlo.InstrID {
		call.Callees, call.Operands = []hlo.CompID{f}, operands
		call.Shape = c.Editor().View(f).Root().Shape()
		return at.Spec(call)
	}
	argument := map[hlo.InstrID]hlo.InstrID{}
	for i, p := range k.params {
		argument[p] = operands[i]
	}
	if call.Common != nil { // a sharding, or an origin, is that of the whole result
		call.Common = &hlo.Common{Metadata: call.Common.Metadata, FrontendAttributes: call.Common.FrontendAttributes}
	}
	one := made(first, operands)
	for i, id := range k.exchange {
		argument[id] = at.Element(one, i)
		operands = append(operands, argument[id])
	}
	if k.ordered {
		call.Control = []hlo.InstrID{one}
	} else {
		call.Control = nil
	}
	two, n := made(second, operands), 0
	var results []hlo.InstrID
	for _, id := range k.results {
		part, given := argument[id]
		if !given {
			part = at.Element(two, n)
			n++
		}
		results = append(results, part)
	}
	whole := results[0]
	if k.tuple {
		whole = at.Tuple(results...)
	}
	return emit.Replace(c, id, whole)
}
