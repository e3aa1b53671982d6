package schedule

import (
	"maps"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// hiding is the pass latency-hiding-scheduler with its options.
type hiding struct {
	limit  int            // chains under way; 0: no limit
	kinds  map[string]int // the same by kind
	memory int64          // 0: no limit
	rerun  int
}

const overlapLimit = "-overlap-limit"

var hidingParams = []pass.Param{
	{Name: "limit", Doc: "how many chains may be under way at once; no limit"},
	{Name: "KIND" + overlapLimit, Doc: "how many of a kind: all-gather, copy, send-recv and so on, or async for other chains; as many as limit says"},
	{Name: "memory-limit", Doc: "how many bytes the values of a computation may take, but for parameters and constants; no limit"},
	{Name: "rerun", Doc: "how often a schedule that needs more is made again; 1"},
}

func newHiding(o pass.Options) (*hiding, error) {
	h := &hiding{kinds: map[string]int{}}
	known := []string{"limit", "memory-limit", "rerun"}
	for kind := range kinds() {
		known = append(known, kind+overlapLimit)
	}
	err := o.Known(known...)
	read := func(key string, def int) (n int) {
		if err == nil {
			n, err = o.Int(key, def)
		}
		return n
	}
	h.limit, h.memory, h.rerun = max(read("limit", 0), 0), int64(read("memory-limit", 0)), read("rerun", 1)
	for kind := range kinds() {
		if n := read(kind+overlapLimit, 0); n > 0 {
			h.kinds[kind] = n
		}
	}
	return h, err
}

// asyncKind is the kind of chains around what has no asynchronous form of its own.
const asyncKind = "async"

// kinds is the set of what chains may occupy: a name for each op that communicates or has a native pair, one for transfers, and one for the rest.
func kinds() map[string]bool {
	set := map[string]bool{asyncKind: true, transferKind: true}
	for op := range hlo.NumOpcodes {
		if kind := kindOfOp(hlo.Opcode(op)); kind != "" {
			set[kind] = true
		}
	}
	return set
}

const transferKind = "send-recv"

// kindOfOp is the kind of a chain around an op, or of a native pair for it.
func kindOfOp(op hlo.Opcode) string {
	info := hlo.Info(op)
	switch pair := info.Pair; {
	case !pair.IsZero() && pair.Plain == hlo.OpInvalid:
		return transferKind
	case !pair.IsZero():
		return pair.Plain.String()
	case info.Traits.Has(hlo.TraitCollective):
		return op.String()
	}
	return ""
}

// kindOf is what the chain of a start occupies.
func kindOf(m hlo.Module, start hlo.Instruction) string {
	op := start.Opcode()
	if op == hlo.OpAsyncStart {
		op = m.MustComputation(start.Callee(0)).Root().Opcode()
	}
	if kind := kindOfOp(op); kind != "" {
		return kind
	}
	return asyncKind
}

// resources is how many chains of each kind are under way.
type resources map[string]int

func (r resources) add(o resources, by int) {
	for kind, n := range o {
		r[kind] += by * n
	}
}

// atLeast raises r to o.
func (r resources) atLeast(o resources) {
	for kind, n := range o {
		r[kind] = max(r[kind], n)
	}
}

// fits reports whether more may be under way beside r.
func (h *hiding) fits(r, more resources) bool {
	sum := 0
	for _, n := range r {
		sum += n
	}
	for kind, n := range more {
		if sum += n; h.kinds[kind] > 0 && r[kind]+n > h.kinds[kind] {
			return false
		}
	}
	return h.limit == 0 || sum <= h.limit
}

// limited reports whether there is a limit on what is under way.
func (h *hiding) limited() bool { return h.limit > 0 || len(h.kinds) > 0 }

// used notes what the callees of calls, loops and branches occupy, of which uses has those that are scheduled.
func (g *graph) used(uses map[hlo.CompID]resources) {
	for i, in := range g.deps.Order {
		if in.NumCallees() == 0 || analysis.IsStart(in) {
			continue
		}
		most := resources{}
		for k := range in.NumCallees() {
			most.atLeast(uses[in.Callee(k)])
		}
		if len(most) > 0 {
			g.uses[i] = most
		}
	}
}

// most is what an order occupies at most.
func (g *graph) most(order []int) resources {
	begins := map[int]resources{} // by binder
	for done, binder := range g.binder {
		if begins[binder] == nil {
			begins[binder] = resources{}
		}
		begins[binder][g.kind[done]]++
	}
	now, most := resources{}, resources{}
	for _, i := range order {
		now.add(begins[i], 1)
		if uses := g.uses[i]; uses != nil {
			inside := maps.Clone(now)
			inside.add(uses, 1)
			most.atLeast(inside)
		}
		most.atLeast(now)
		if kind, done := g.kind[i]; done {
			now[kind]--
		}
	}
	return most
}
