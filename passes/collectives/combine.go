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

// combiner merges collectives of one kind into one with several operands.
type combiner struct {
	op           hlo.Opcode
	bytes, count int64
	key          func(m hlo.Module, in hlo.Instruction) (string, bool)
	whileLoops   bool // also in the bodies of loops
	// along gives the attributes another dimension: those along different dimensions are merged, too.
	along func(attrs hlo.OpAttrs, dim int64) hlo.OpAttrs
}

const combinerDoc = `merge %s into one with several operands

Those that do not depend on each other and run between the same devices in the same way are merged, in the order of the program, up to
combine-threshold-in-bytes of results and combine-threshold-count operands. Those with a collective_group_key are merged only with others of the same key.

Pairs of a start and a done are merged into one pair where that narrows no chain: where the same work can be done beside them, and none begins more than 20 µs later.`

var combinerParams = []pass.Param{
	{Name: "combine-threshold-in-bytes", Doc: "the most bytes of results in one; 31457280"},
	{Name: "combine-threshold-count", Doc: "the most operands of one; 256"},
}

// newCombiner reads the two thresholds and makes the pass.
func newCombiner(o pass.Options, name, what string, b *combiner, more ...pass.Param) (*pass.Pass, error) {
	params := append(slices.Clone(combinerParams), more...)
	var known []string
	for _, p := range params {
		known = append(known, p.Name)
	}
	if err := o.Known(known...); err != nil {
		return nil, err
	}
	bytes, err := o.Int("combine-threshold-in-bytes", 30<<20)
	if err != nil {
		return nil, err
	}
	count, err := o.Int("combine-threshold-count", 256)
	if err != nil {
		return nil, err
	}
	b.bytes, b.count = int64(bytes), int64(count)
	return &pass.Pass{Name: name, Doc: fmt.Sprintf(combinerDoc, what), Options: o, Params: params, Run: b.run}, nil
}

func (b *combiner) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	bodies := map[hlo.CompID]bool{}
	if !b.whileLoops {
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() == hlo.OpWhile {
					bodies[in.Callee(0)], bodies[in.Callee(1)] = true, true
				}
			}
		}
	}
	e := ctx.Edit(m)
	for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
		if bodies[c.ID()] {
			continue
		}
		if err := b.chains(ctx, e, m, c); err != nil {
			return m, err
		}
		done := map[hlo.InstrID]bool{}
		for {
			set := b.next(ctx, m, e.View(c.ID()), done)
			if len(set) < 2 || !ctx.Spend("combine") {
				break
			}
			if ctx.Remarks() {
				var bytes int64
				for _, id := range set {
					bytes += bytesOf(e.View(c.ID()).MustAt(id))
				}
				ctx.Passed(e.View(c.ID()).MustAt(set[0]), "merged with %d others: %d bytes in one, of at most %d", len(set)-1, bytes, b.bytes)
			}
			if _, err := b.merge(e.Computation(c.ID()), set); err != nil {
				return m, err
			}
			ctx.Count("combined", int64(len(set)))
		}
	}
	return e.Freeze(), nil
}

// candidate is a collective that may be merged with others of its key, and its position in the order of the program.
type candidate struct {
	at    int
	key   string
	bytes int64
}

// next finds a set to merge: the first that is not done and others like it. Those that it has tried are marked done.
func (b *combiner) next(ctx *pass.Context, m hlo.Module, c hlo.Computation, done map[hlo.InstrID]bool) []hlo.InstrID {
	deps, windows, parts := analysis.FindDependencies(c), analysis.FindWindows(c), findDomains(c)
	var all []candidate
	isCandidate := make([]bool, len(deps.Order))
	for i, in := range deps.Order {
		if key, ok := b.keyOf(m, in, parts, done); ok {
			isCandidate[i] = true
			all = append(all, candidate{i, key, bytesOf(in)})
		}
	}
	bottlenecks := deps.FindBottlenecks(func(in hlo.Instruction) bool { return isCandidate[deps.Position(in.ID())] })
	after := make([]int, len(deps.Order)) // by position: one past the number of the last candidate whose set it comes after
	for n, one := range all {
		first := deps.Order[one.at]
		_, high := bottlenecks.Around(one.at, one.at)
		set := []hlo.InstrID{}
		var bytes int64
		var follow []int
		for _, other := range all[n:] {
			if other.at >= high || int64(len(set)) >= b.count {
				break
			}
			if other.key != one.key || bytes+other.bytes > b.bytes {
				continue
			}
			for len(follow) > 0 {
				i := follow[len(follow)-1]
				follow = follow[:len(follow)-1]
				for _, k := range deps.After(i) {
					if k < high && after[k] <= n {
						after[k] = n + 1
						follow = append(follow, k)
					}
				}
			}
			if after[other.at] > n {
				continue
			}
			in := deps.Order[other.at]
			if windows.Narrows(first.ID(), in.ID()) {
				ctx.Missed(in, "not merged with %%%s: one would wait for a chain that only the other needs", first.Name())
				continue
			}
			set, bytes, follow = append(set, in.ID()), bytes+other.bytes, append(follow, other.at)
		}
		done[first.ID()] = true
		for _, id := range set {
			done[id] = true
		}
		if len(set) > 1 {
			return set
		}
	}
	return nil
}

func (b *combiner) keyOf(m hlo.Module, in hlo.Instruction, parts domains, done map[hlo.InstrID]bool) (string, bool) {
	if in.Opcode() != b.op || done[in.ID()] || in.NumOperands() != 1 || !in.Shape().IsArray() {
		return "", false
	}
	key, ok := b.key(m, in)
	if !ok {
		return "", false
	}
	f := factsOf(m, in)
	groups := ""
	if f.groups != nil {
		groups = f.groups.String()
	}
	return strings.Join([]string{key, keyOf(in), fmt.Sprint(f.channel.Set, f.global, f.constrain, f.pairs, parts[in.ID()]), groups}, "|"), true
}

func bytesOf(in hlo.Instruction) (n int64) {
	for _, leaf := range in.Shape().Leaves {
		if leaf.IsArray() {
			n += leaf.ByteSize()
		}
	}
	return n
}

// merge makes one of the set, in front of its first, and returns it.
func (b *combiner) merge(c hlo.CompEdit, set []hlo.InstrID) (hlo.InstrID, error) {
	first := c.At(set[0])
	spec := hlo.InstrSpec{Opcode: b.op, Name: first.Name(), Attrs: first.Attrs(), Callees: slices.Collect(first.Callees()),
		Position: first.Position(), Common: joined(c, set)}
	dim := int64(-1)
	if b.along != nil {
		dim = commonDim(c, set)
		spec.Attrs = b.along(spec.Attrs, dim)
	}
	at := emit.At{C: c, Before: first.ID()}
	var shapes []hlo.Shape
	for _, id := range set {
		in := c.At(id)
		spec.Control = append(spec.Control, slices.Collect(in.ControlPredecessors())...)
		x, shape := in.Operand(0), in.Shape()
		if own := dimOf(in); dim >= 0 && own != dim {
			x = at.OpOf(hlo.OpBitcast, exchanged(in.OperandInstr(0).Shape(), own, dim), nil, x)
			shape = exchanged(shape, own, dim)
		}
		spec.Operands, shapes = append(spec.Operands, x), append(shapes, shape)
	}
	slices.Sort(spec.Control)
	spec.Control = slices.Compact(spec.Control)
	spec.Shape = hlo.MakeTuple(shapes...)
	one := at.Spec(spec)
	for i, id := range set {
		in := c.At(id)
		own := in.Shape()
		at := emit.At{C: c, Before: id, Position: in.Position()}
		part := at.Spec(hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: shapes[i], Operands: []hlo.InstrID{one},
			Attrs: &hlo.TupleElementAttrs{Index: int64(i)}, Position: in.Position(), Common: plainCommon(in.Common())})
		if !shapes[i].Equal(own) {
			part = at.OpOf(hlo.OpBitcast, own, nil, part)
		}
		for _, s := range slices.Collect(c.ControlSuccessors(id)) {
			c.Instr(s).RemoveControlPredecessor(id).AddControlPredecessor(one)
		}
		for _, p := range slices.Collect(c.At(id).ControlPredecessors()) {
			c.Instr(id).RemoveControlPredecessor(p)
		}
		if err := c.ReplaceInstruction(id, part); err != nil {
			return 0, err
		}
	}
	emit.Reorder(c)
	return one, nil
}

func dimOf(in hlo.Instruction) int64 {
	switch a := in.Attrs().(type) {
	case *hlo.AllGatherAttrs:
		return a.Dimensions[0]
	case *hlo.ReduceScatterAttrs:
		return a.Dimensions[0]
	}
	return -1
}

// commonDim is the dimension along which most of the set work, if all have it, else 0.
func commonDim(c hlo.CompEdit, set []hlo.InstrID) int64 {
	count := map[int64]int{}
	best, rank := dimOf(c.At(set[0])), c.At(set[0]).Shape().Rank()
	for _, id := range set {
		d := dimOf(c.At(id))
		count[d]++
		if count[d] > count[best] {
			best = d
		}
		rank = min(rank, c.At(id).Shape().Rank())
	}
	if int(best) >= rank {
		return 0
	}
	return best
}

// exchanged is a shape with two dimensions exchanged and its elements where they were in memory.
func exchanged(s hlo.Shape, i, j int64) hlo.Shape {
	dims := s.Dimensions()
	dims[i], dims[j] = dims[j], dims[i]
	layout, ok := s.Layout()
	if !ok {
		layout = hlo.DefaultLayout(len(dims))
	}
	moved := *layout
	moved.MinorToMajor = slices.Clone(layout.MinorToMajor)
	for k, d := range moved.MinorToMajor {
		switch d {
		case i:
			moved.MinorToMajor[k] = j
		case j:
			moved.MinorToMajor[k] = i
		}
	}
	return hlo.MakeArray(s.Type(), dims, nil, &moved)
}

// plainCommon is what an element of a merged collective keeps of its own.
func plainCommon(c *hlo.Common) *hlo.Common {
	if c == nil || c.Metadata == nil && c.Sharding == nil {
		return nil
	}
	return &hlo.Common{Metadata: c.Metadata, Sharding: c.Sharding}
}

// joinedShardings is the shardings of the parts of the merged one; those without are replicated, if one has any.
func joinedShardings(c hlo.CompEdit, set []hlo.InstrID) *hlo.Sharding {
	parts, some := make([]*hlo.Sharding, len(set)), false
	for i, id := range set {
		parts[i] = &hlo.Sharding{Kind: hlo.ShardingReplicated}
		if own := c.At(id).Common(); own != nil && own.Sharding != nil {
			if own.Sharding.Kind == hlo.ShardingTuple {
				return nil
			}
			parts[i], some = own.Sharding, true
		}
	}
	if !some {
		return nil
	}
	return &hlo.Sharding{Kind: hlo.ShardingTuple, Elements: parts}
}

// joined is the attributes of the merged one: those of the first, with the names of all.
func joined(c hlo.CompEdit, set []hlo.InstrID) *hlo.Common {
	first, shardings := c.At(set[0]).Common(), joinedShardings(c, set)
	if first == nil {
		if shardings == nil {
			return nil
		}
		return &hlo.Common{Sharding: shardings}
	}
	common := &hlo.Common{FrontendAttributes: first.FrontendAttributes, BackendConfig: first.BackendConfig, Metadata: first.Metadata, Sharding: shardings}
	if first.Metadata == nil {
		return common
	}
	var names []string
	for _, id := range set {
		if own := c.At(id).Common(); own != nil && own.Metadata != nil && own.Metadata.OpName != "" {
			names = append(names, own.Metadata.OpName)
		}
	}
	if len(names) > 1 {
		md := *first.Metadata
		md.OpName = joinNames(names)
		common.Metadata = &md
	}
	return common
}

// joinNames is `prefix/(a:b)` of prefix/a and prefix/b, as XLA writes the name of what was made of several ops.
func joinNames(names []string) string {
	prefix := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	prefix = prefix[:strings.LastIndex(prefix, "/")+1]
	rest := make([]string, len(names))
	for i, n := range names {
		rest[i] = n[len(prefix):]
	}
	return prefix + "(" + strings.Join(rest, ":") + ")"
}
