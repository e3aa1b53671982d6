package verifier

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Deadlocks between sends, recvs and other collectives of a scheduled module (verifier 8.2). The program runs the same on every device, so
// a send waits for the recv of its partners, which must not stand behind something that waits for all.

// The frontend attributes that describe a transfer.
const (
	sourceTargetPairs = "_xla_send_recv_source_target_pairs"
	pipelineMarker    = "_xla_send_recv_pipeline"
)

// awaiting is what must come next.
type awaiting uint8

const (
	nothing awaiting = iota
	aRecv            // a send is pending
	aSend            // a recv is pending
)

// transfers is the state between two instructions.
type transfers struct {
	state        awaiting
	sends, recvs pending
}

// transfer is a send or recv.
type transfer struct {
	in    hlo.Instruction
	text  string // its pairs as written: what a partner is recognised by
	pairs [][2]int64
}

// pending are transfers of one kind that wait for their partners.
type pending struct {
	waiting []transfer     // in program order; those that have met their partners are zero
	n       int            // of those that wait
	texts   map[string]int // how many wait, by their pairs
	first   map[string]int // where in waiting the first may be found
	joined  *paths         // all their pairs; nil when one has been taken away since
}

func (p *pending) add(x transfer) {
	if p.texts == nil {
		p.texts, p.first = make(map[string]int), make(map[string]int)
	}
	if p.texts[x.text] == 0 {
		p.first[x.text] = len(p.waiting)
	}
	p.waiting = append(p.waiting, x)
	p.n++
	p.texts[x.text]++
}

// meet takes away the first transfer that has the given pairs, if there is one.
func (p *pending) meet(text string) bool {
	if p.texts[text] == 0 {
		return false
	}
	for i := p.first[text]; ; i++ {
		if p.waiting[i].text != text || p.waiting[i].in.IsZero() {
			continue
		}
		p.waiting[i] = transfer{}
		p.first[text] = i + 1
		break
	}
	p.texts[text]--
	p.n--
	p.joined = nil
	if p.n == 0 {
		p.waiting = p.waiting[:0]
	}
	return true
}

// fits reports whether the pairs of all that wait and of x together have no circle, no source twice and no target twice.
func (p *pending) fits(x transfer) bool {
	if p.joined == nil {
		p.joined = newPaths()
		for _, w := range p.waiting {
			p.joined.add(w.pairs)
		}
	}
	return p.joined.add(x.pairs)
}

// paths is a graph in which no node has two edges out or two in, and no edge closes a circle: the edges form paths.
type paths struct {
	sources, targets map[int64]bool
	parent           map[int64]int64 // towards a node that stands for the path
}

func newPaths() *paths {
	return &paths{make(map[int64]bool), make(map[int64]bool), make(map[int64]int64)}
}

// add adds edges, and reports whether the graph is still one of paths.
func (g *paths) add(edges [][2]int64) bool {
	ok := true
	for _, e := range edges {
		ok = ok && !g.sources[e[0]] && !g.targets[e[1]]
		g.sources[e[0]], g.targets[e[1]] = true, true
		a, b := g.find(e[0]), g.find(e[1])
		ok = ok && a != b
		g.parent[b] = a
	}
	return ok
}

func (g *paths) find(n int64) int64 {
	for {
		up, ok := g.parent[n]
		if !ok || up == n {
			return n
		}
		if further, ok := g.parent[up]; ok {
			g.parent[n] = further // halves the way for the next search
		}
		n = up
	}
}

// deadlockWalk runs through the program once.
type deadlockWalk struct {
	r      *run
	stop   bool                // an error was found: what follows says nothing
	quiet  map[hlo.CompID]bool // computations in which nothing is sent, received or waited for
	closed map[hlo.CompID]bool // computations that leave nothing pending when nothing was
	events int
}

// maxEvents bounds the walk: computations that call others twice make programs that are exponentially longer than their text.
const maxEvents = 1 << 20

// waitsForAll marks the collectives that every device must reach. All-reduce and reduce-scatter own a computation, and XLA does not look at
// instructions that do.
func waitsForAll(op hlo.Opcode) bool {
	return slices.Contains([]hlo.Opcode{hlo.OpAllGather, hlo.OpAllToAll, hlo.OpRaggedAllToAll, hlo.OpCollectivePermute, hlo.OpCollectiveBroadcast}, op)
}

func (r *run) deadlocks() {
	w := &deadlockWalk{r: r, quiet: make(map[hlo.CompID]bool), closed: make(map[hlo.CompID]bool)}
	t := new(transfers)
	w.computation(r.m.Entry(), t)
	w.end(r.m.Entry(), t)
}

func (w *deadlockWalk) computation(c hlo.Computation, t *transfers) {
	fresh := t.state == nothing
	if w.isQuiet(c) || fresh && w.closed[c.ID()] {
		return
	}
	defer func() {
		if fresh && t.state == nothing && !w.stop {
			w.closed[c.ID()] = true
		}
	}()
	for in := range c.Instructions() {
		if w.stop {
			return
		}
		switch op := in.Opcode(); {
		case in.NumCallees() == 0:
			w.event(in, t)
		case op == hlo.OpAllReduce || op == hlo.OpReduceScatter:
			if w.r.cfg.ReductionDeadlocks && t.state != nothing {
				w.fail(in, "HALO-DEADLOCK", "%v waits for all devices while transfers are pending: %s", op, t)
			}
		default:
			w.callees(in, t)
		}
	}
}

// isQuiet reports whether c and all it calls have no events.
func (w *deadlockWalk) isQuiet(c hlo.Computation) bool {
	if q, ok := w.quiet[c.ID()]; ok {
		return q
	}
	q := true
	for in := range c.Instructions() {
		op := in.Opcode()
		q = q && op != hlo.OpSend && op != hlo.OpRecv && !waitsForAll(op) && op != hlo.OpAllReduce && op != hlo.OpReduceScatter
		for i := range in.NumCallees() {
			q = q && w.isQuiet(w.r.m.MustComputation(in.Callee(i)))
		}
		if !q {
			break
		}
	}
	w.quiet[c.ID()] = q
	return q
}

// callees goes into what in calls: with the state at hand, or, for a group that runs asynchronously, with a fresh one.
func (w *deadlockWalk) callees(in hlo.Instruction, t *transfers) {
	for id := range in.Callees() {
		c := w.r.m.MustComputation(id)
		if hlo.IsAsync(in.Opcode()) && !hlo.IsExpandable(c) {
			if in.Opcode() != hlo.OpAsyncStart {
				continue
			}
			inner := new(transfers)
			w.computation(c, inner)
			if t.state != nothing && !w.stop {
				w.end(c, inner)
			}
			continue
		}
		w.computation(c, t)
	}
}

func (w *deadlockWalk) event(in hlo.Instruction, t *transfers) {
	op := in.Opcode()
	if w.events++; w.events > maxEvents {
		w.r.warn(in, "DEAD-09", "the program is too long to look for deadlocks to its end")
		w.stop = true
		return
	}
	switch {
	case op == hlo.OpSend || op == hlo.OpRecv:
		if hlo.AttrsOf[hlo.SendRecvAttrs](in).IsHostTransfer {
			return
		}
		if _, ok := frontendAttrs(in).Get(pipelineMarker); ok {
			return
		}
		x, ok := w.transfer(in)
		switch {
		case !ok:
			w.stop = true
		case op == hlo.OpSend:
			w.add(x, t, aRecv, &t.sends, aSend, &t.recvs)
		default:
			w.add(x, t, aSend, &t.recvs, aRecv, &t.sends)
		}
	case waitsForAll(op) && t.state != nothing:
		w.fail(in, "DEAD-06", "Expected send and recv instructions to have the same source-target pairs, but could not match some instructions. Introducing the following instruction will cause a deadlock: %%%s; pending: %s", in.Name(), t)
	}
}

func (w *deadlockWalk) fail(in hlo.Instruction, rule, format string, args ...any) {
	w.r.report(in, rule, format, args...)
	w.stop = true
}

// add handles a send (or recv) x: mine are the pending ones of its kind, which wait in state expect; theirs are the others, in state other.
func (w *deadlockWalk) add(x transfer, t *transfers, expect awaiting, mine *pending, other awaiting, theirs *pending) {
	switch t.state {
	case nothing:
		t.state = expect
	case expect:
		if !mine.fits(x) {
			rule, want := "DEAD-04", "recv"
			if expect == aSend {
				rule, want = "DEAD-05", "send"
			}
			w.fail(x.in, rule, "Expected %s, but found %v %%%s; pending: %s", want, x.in.Opcode(), x.in.Name(), t)
			return
		}
		mine.add(x)
		return
	case other:
		if theirs.meet(x.text) {
			if theirs.n == 0 {
				t.state = nothing
			}
			return
		}
	}
	mine.joined = nil
	mine.add(x)
}

// end checks what is left at the end of a program.
func (w *deadlockWalk) end(c hlo.Computation, t *transfers) {
	if w.stop || t.state == nothing {
		return
	}
	sends, recvs := t.sends.left(), t.recvs.left()
	switch {
	case len(sends) > 0 && len(recvs) > 0:
		w.fail(sends[0], "DEAD-09", "Deadlock detected at the end of %%%s: %s match nothing", c.Name(), t)
	case len(sends) > 0:
		w.fail(sends[0], "DEAD-07", "Expected recv to match send %%%s at the end of %%%s", sends[0].Name(), c.Name())
	case len(recvs) > 0:
		w.fail(recvs[0], "DEAD-08", "Expected send to match recv %%%s at the end of %%%s", recvs[0].Name(), c.Name())
	}
}

// left are the transfers that wait.
func (p *pending) left() []hlo.Instruction {
	var ins []hlo.Instruction
	for _, x := range p.waiting {
		if !x.in.IsZero() {
			ins = append(ins, x.in)
		}
	}
	return ins
}

// String names what is pending, with the pairs.
func (t *transfers) String() string {
	const most = 4
	var names []string
	for _, p := range []*pending{&t.sends, &t.recvs} {
		for _, x := range p.waiting {
			if !x.in.IsZero() && len(names) < most {
				names = append(names, fmt.Sprintf("%%%s %s", x.in.Name(), x.text))
			}
		}
	}
	if more := t.sends.n + t.recvs.n - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// transfer reads the pairs of a send or recv.
func (w *deadlockWalk) transfer(in hlo.Instruction) (transfer, bool) {
	text, ok := frontendAttrs(in).Get(sourceTargetPairs)
	if !ok {
		w.r.report(in, "DEAD-01", "Instruction %%%s does not have source-target pairs attribute %s", in.Name(), sourceTargetPairs)
		return transfer{}, false
	}
	pairs, ok := parsePairs(text)
	switch {
	case !ok:
		w.r.report(in, "DEAD-01", "Instruction %%%s does not have source-target pairs attribute that can be read: %q", in.Name(), text)
	case cyclic(pairs):
		w.r.report(in, "DEAD-02", "Expected send and recv instructions to have non-cyclical source-target pairs, got %s", text)
		ok = false
	case !uniquePairs(pairs):
		w.r.report(in, "DEAD-03", "Expected send and recv instructions to have unique source and target pairs, got %s", text)
		ok = false
	}
	return transfer{in, text, pairs}, ok
}

// parsePairs reads `{{0,1},{1,2}}`.
func parsePairs(text string) ([][2]int64, bool) {
	text = strings.ReplaceAll(text, " ", "")
	body, ok := strings.CutPrefix(text, "{")
	body, ok2 := strings.CutSuffix(body, "}")
	if !ok || !ok2 {
		return nil, false
	}
	if body == "" {
		return nil, true
	}
	var pairs [][2]int64
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(body, "{"), "}"), "},{") {
		a, b, _ := strings.Cut(part, ",")
		x, err1 := strconv.ParseInt(a, 10, 64)
		y, err2 := strconv.ParseInt(b, 10, 64)
		if err1 != nil || err2 != nil {
			return nil, false
		}
		pairs = append(pairs, [2]int64{x, y})
	}
	return pairs, true
}

func uniquePairs(pairs [][2]int64) bool {
	sources, targets := make(map[int64]bool), make(map[int64]bool)
	for _, p := range pairs {
		if sources[p[0]] || targets[p[1]] {
			return false
		}
		sources[p[0]], targets[p[1]] = true, true
	}
	return true
}

// cyclic reports whether the pairs, as edges of a graph, contain a cycle.
func cyclic(pairs [][2]int64) bool {
	next := make(map[int64][]int64)
	degree := make(map[int64]int) // edges into a node that have not been taken away
	for _, p := range pairs {
		next[p[0]] = append(next[p[0]], p[1])
		degree[p[1]]++
	}
	var free []int64
	for _, p := range pairs {
		if degree[p[0]] == 0 && !slices.Contains(free, p[0]) {
			free = append(free, p[0])
		}
	}
	for len(free) > 0 {
		n := free[len(free)-1]
		free = free[:len(free)-1]
		for _, to := range next[n] {
			if degree[to]--; degree[to] == 0 {
				free = append(free, to)
			}
		}
		delete(next, n)
	}
	return len(next) > 0
}
