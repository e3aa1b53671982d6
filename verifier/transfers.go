package verifier

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// What the search for deadlocks remembers between two instructions: transfers that wait for their partners, and the paths between devices
// that they make.

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
	for n := range next {
		if degree[n] == 0 {
			free = append(free, n)
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
