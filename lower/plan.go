package lower

import (
	"slices"

	"github.com/gohalo/halo/runtime"
)

// storage is memory that one or more values use, one after the other or as aliases.
type storage struct {
	slot        runtime.Slot // of kind SlotArena with Index set by the packer, unless it is foreign memory
	bytes       int64
	first, last int   // ops between which it must not be used for anything else, both included
	uses        []int // in functions with segments: the ops that use it, the first among them; last is of no meaning there
}

// isOverBy reports whether nothing uses s after op k.
func (f *function) isOverBy(s *storage, k int) bool {
	if f.segments == nil {
		return s.last <= k
	}
	return !slices.ContainsFunc(s.uses, func(u int) bool { return u != k && !f.before(u, k) })
}

// constStorage makes the storage of a constant.
func (f *function) constStorage(data []byte) int {
	f.stores = append(f.stores, storage{slot: runtime.ConstSlot(f.l.consts.add(data)), bytes: int64(len(data))})
	return len(f.stores) - 1
}

// findOver says which results share memory with arguments. In a loop body result i is the memory of argument i; the entry may get the same memory
// for a result and the argument that the header lets it be written over, or other memory, and computes the same.
func (f *function) findOver() {
	switch {
	case f.conv == loopBody:
		f.over = make([]int, len(f.roots))
		for i := range f.over {
			f.over[i] = i
		}
	case f.comp.ID() == f.l.m.Entry().ID():
		f.over = f.l.donations()
	}
}

// settleRoots makes functions safe for results that are copied one after the other into arguments' memory: a result that is
// another argument is copied aside first, unless that argument is never overwritten.
func (f *function) settleRoots() {
	if f.over == nil {
		return
	}
	f.passesArg = make([]bool, len(f.args))
	for j := range f.passesArg {
		f.passesArg[j] = true
	}
	for i, j := range f.over {
		if j >= 0 {
			f.passesArg[j] = f.roots[i] == f.args[j]
		}
	}
	settled := append([]valueID(nil), f.roots...)
	for i, r := range f.roots {
		if f.values[r].shape.IsToken() {
			continue // events change places all at once
		}
		if j := f.argument(r); j >= 0 && j != f.over[i] && !f.passesArg[j] {
			settled[i] = f.copy(r, f.comp.Root())
		}
	}
	f.roots = settled
}

// argument is the position of v, or of what v is an alias of, among the arguments; -1 if it is computed.
func (f *function) argument(v valueID) int {
	for {
		def := f.values[v].def
		if def < 0 {
			return int(v) // arguments are the first values
		}
		o := &f.ops[def]
		if len(o.share) == 0 || o.share[0].kind != alias {
			return -1
		}
		v = o.args[o.share[0].arg]
	}
}

// makePlan gives every value a storage and every storage a place.
//
//  1. Last uses: of every value, counting the function's results and, for operands of an asynchronous chain, its done.
//  2. Storages: an alias shares its operand's; a kernel that may works in place where the operand is not needed afterwards; a
//     loop's results are its arguments' storage; everything else gets one of its own.
//  3. Results of the function go straight to the caller's memory where nothing else can be hurt.
//  4. The rest is packed into the frame, callees' frames included.
func (f *function) makePlan() error {
	f.findLastUses()
	carried := f.carriedArgs()
	for i, a := range f.args {
		f.values[a].store = f.newStorage(runtime.ArgSlot(i), f.values[a], -1)
	}
	for k := range f.ops {
		f.place(k, carried)
	}
	f.placeResults()
	f.pack()
	return nil
}

func (f *function) findLastUses() {
	for i := range f.values {
		f.values[i].lastUse = f.values[i].def
	}
	use := func(v valueID, at int) {
		f.values[v].lastUse = max(f.values[v].lastUse, at)
		if f.segments != nil {
			f.values[v].uses = append(f.values[v].uses, at)
		}
	}
	for v := range f.values {
		if d := f.values[v].def; d >= 0 {
			use(valueID(v), d)
		}
	}
	for k := range f.ops {
		for _, a := range f.ops[k].args {
			use(a, k)
		}
		if c := f.ops[k].chain; c != nil {
			for _, v := range c.bound {
				use(v, c.done)
			}
		}
	}
	for _, r := range f.roots {
		use(r, len(f.ops))
	}
}

func (f *function) newStorage(slot runtime.Slot, v value, first int) int {
	bytes := v.shape.BufferSize()
	if bytes == 0 {
		slot = runtime.Slot{Kind: runtime.SlotNone}
	}
	s := storage{slot: slot, bytes: bytes, first: first, last: v.lastUse, uses: slices.Clone(v.uses)}
	if f.segments != nil && first >= 0 {
		s.uses = append(s.uses, first)
	}
	f.stores = append(f.stores, s)
	return len(f.stores) - 1
}

// place finds storage for the results of op k.
func (f *function) place(k int, carried map[valueID]int) {
	o := &f.ops[k]
	for j, r := range o.results {
		if f.values[r].store >= 0 { // constants know theirs
			continue
		}
		if o.loop {
			f.join(r, f.values[o.args[j]].store)
			continue
		}
		for _, s := range o.share {
			if s.result != j {
				continue
			}
			arg := o.args[s.arg]
			if s.kind == alias {
				f.join(r, f.values[arg].store)
				break
			}
			if f.mayOverwrite(k, arg, r, carried) {
				f.overwrite(k, arg, r, carried)
				break
			}
		}
		if f.values[r].store < 0 {
			f.values[r].store = f.newStorage(runtime.ArenaSlot(0), f.values[r], k)
		}
	}
	if o.chain != nil {
		for _, out := range o.chain.outputs {
			// The callee writes its results from the start on.
			f.values[out].store = f.newStorage(runtime.ArenaSlot(0), f.values[out], k)
		}
	}
}

// overwrite puts r where arg is. An argument is written under its other name, as the result it becomes.
func (f *function) overwrite(k int, arg, r valueID, carried map[valueID]int) {
	s := f.values[arg].store
	if f.stores[s].slot.Kind == runtime.SlotArg {
		f.values[r].store = f.newStorage(runtime.OutSlot(carried[r]), f.values[r], k)
		return
	}
	f.join(r, s)
}

func (f *function) join(v valueID, store int) {
	f.values[v].store = store
	f.stores[store].last = max(f.stores[store].last, f.values[v].lastUse)
	f.stores[store].uses = append(f.stores[store].uses, f.values[v].uses...)
}

// mayOverwrite reports whether op k may put its result r where its argument is: the argument's storage is not needed after k, no
// other argument of k lives in it, and it is the function's own; or it is the memory of the result that r, in the end, becomes, or of the
// argument that this result is written over.
func (f *function) mayOverwrite(k int, arg, r valueID, carried map[valueID]int) bool {
	s := f.values[arg].store
	st := &f.stores[s]
	if st.bytes == 0 || !f.isOverBy(st, k) {
		return false
	}
	// Every argument of k that lives there must be one that k may write over.
	for i, a := range f.ops[k].args {
		if f.values[a].store == s && !slices.ContainsFunc(f.ops[k].share, func(sh sharing) bool { return sh.arg == i && f.ops[k].results[sh.result] == r }) {
			return false
		}
	}
	for _, other := range f.ops[k].results {
		if other != r && f.values[other].store == s {
			return false
		}
	}
	switch st.slot.Kind {
	case runtime.SlotArena:
		return true
	case runtime.SlotArg:
		i, ok := carried[r]
		return ok && st.slot.Index == int64(f.over[i])
	case runtime.SlotOut:
		i, ok := carried[r]
		return ok && st.slot.Index == int64(i)
	}
	return false
}

// carriedArgs finds the values through which an argument becomes the result in its memory by in-place work alone, with that result: they may
// overwrite the argument.
func (f *function) carriedArgs() map[valueID]int {
	if f.over == nil {
		return nil
	}
	carried, returned := make(map[valueID]int), f.returned()
	// A value that is another result, too, would be overwritten by this one before it is copied.
	elsewhere := func(i int) func(v valueID) bool {
		return func(v valueID) bool { return len(returned[v]) > 0 && !slices.Contains(returned[v], i) }
	}
	for i, r := range f.roots {
		var chain []valueID
		if j := f.over[i]; j >= 0 && f.reaches(r, f.args[j], &chain, min(len(f.ops), longestCarry)) && !slices.ContainsFunc(chain, elsewhere(i)) {
			for _, v := range chain {
				carried[v] = i
			}
		}
	}
	return carried
}

// returned lists, for the values that are results or that results are aliases of, which results.
func (f *function) returned() map[valueID][]int {
	list := make(map[valueID][]int, len(f.roots))
	for i, v := range f.roots {
		for {
			list[v] = append(list[v], i)
			def := f.values[v].def
			if def < 0 || len(f.ops[def].share) == 0 || f.ops[def].share[0].kind != alias {
				break
			}
			v = f.ops[def].args[f.ops[def].share[0].arg]
		}
	}
	return list
}

// longestCarry bounds the chains that carriedArgs follows, since a body may have many results at the end of one long chain.
const longestCarry = 4096

// reaches follows shared operands from v back to arg and records the values on the way. The budget bounds the search.
func (f *function) reaches(v, arg valueID, chain *[]valueID, budget int) bool {
	var path []valueID
	for range budget {
		if v == arg {
			*chain = path
			return true
		}
		path = append(path, v)
		def := f.values[v].def
		if def < 0 {
			return false
		}
		o := &f.ops[def]
		next := valueID(-1)
		for _, s := range o.share {
			if o.results[s.result] != v {
				continue
			}
			a := o.args[s.arg]
			if next < 0 || f.leadsTo(a, arg) {
				next = a
			}
		}
		if o.loop {
			for j, r := range o.results {
				if r == v {
					next = o.args[j]
				}
			}
		}
		if next < 0 {
			return false
		}
		v = next
	}
	return false
}

// leadsTo is a look one step ahead: whether a is arg or shares storage with it directly.
func (f *function) leadsTo(a, arg valueID) bool {
	if a == arg {
		return true
	}
	def := f.values[a].def
	if def < 0 {
		return false
	}
	for _, s := range f.ops[def].share {
		if f.ops[def].args[s.arg] == arg {
			return true
		}
	}
	return false
}

// placeResults lets results be computed straight into the caller's memory. Where that is an argument's, it is free once nothing reads the
// argument any more.
func (f *function) placeResults() {
	var busy map[runtime.Slot][]*storage
	if f.over != nil {
		busy = f.callersMemory()
	}
	for i, r := range f.roots {
		s := &f.stores[f.values[r].store]
		if s.slot.Kind != runtime.SlotArena {
			continue
		}
		if f.over != nil && f.over[i] >= 0 {
			inUse := func(b *storage) bool { return !f.isOverBefore(b, s.first) }
			if j := f.over[i]; f.stores[f.values[f.args[j]].store].bytes != s.bytes || slices.ContainsFunc(busy[runtime.ArgSlot(j)], inUse) ||
				slices.ContainsFunc(busy[runtime.OutSlot(i)], inUse) {
				continue
			}
		}
		s.slot = runtime.OutSlot(i)
	}
}

// isOverBefore reports whether nothing uses s from op k on.
func (f *function) isOverBefore(s *storage, k int) bool {
	if f.segments == nil {
		return s.last < k
	}
	return !slices.ContainsFunc(s.uses, func(u int) bool { return !f.before(u, k) })
}

// callersMemory lists the storages of arguments, and of results that were written over them, by place.
func (f *function) callersMemory() map[runtime.Slot][]*storage {
	users := make(map[runtime.Slot][]*storage, len(f.args))
	for n := range f.stores {
		s := &f.stores[n]
		if k := s.slot.Kind; s.bytes > 0 && (k == runtime.SlotArg || k == runtime.SlotOut) {
			users[s.slot] = append(users[s.slot], s)
		}
	}
	return users
}
