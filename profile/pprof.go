package profile

import (
	"io"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gohalo/halo/hlo/origin"
)

// WritePprof writes the profile for go tool pprof. A stack is the computations and control instructions from the entry down to an op, each with its line
// of the text, and below the op, where it comes from a line of the user's program, that line and the calls to it stand between. Values are calls
// and nanoseconds.
func (p *Profile) WritePprof(w io.Writer) error {
	out := &pprof.Profile{
		SampleType: []*pprof.ValueType{{Type: "calls", Unit: "count"}, {Type: "time", Unit: "nanoseconds"}},
		PeriodType: &pprof.ValueType{Type: "time", Unit: "nanoseconds"}, Period: 1, DefaultSampleType: "time",
		DurationNanos: time.Duration(p.Seconds * float64(p.Runs) * 1e9).Nanoseconds(),
	}
	b := pprofBuilder{out: out, p: p, functions: map[string]*pprof.Function{}, locations: map[frame]*pprof.Location{}}
	b.node(p.Tree, []*pprof.Location{b.at(frame{name: p.Module})})
	return out.Write(w)
}

// frame is a line of a stack.
type frame struct {
	name, file string
	line       int
}

type pprofBuilder struct {
	out       *pprof.Profile
	p         *Profile
	functions map[string]*pprof.Function
	locations map[frame]*pprof.Location
}

func (b *pprofBuilder) at(f frame) *pprof.Location {
	if l := b.locations[f]; l != nil {
		return l
	}
	key := f.name + "\x00" + f.file
	fn := b.functions[key]
	if fn == nil {
		fn = &pprof.Function{ID: uint64(len(b.out.Function) + 1), Name: f.name, SystemName: f.name, Filename: f.file}
		b.functions[key] = fn
		b.out.Function = append(b.out.Function, fn)
	}
	l := &pprof.Location{ID: uint64(len(b.out.Location) + 1), Line: []pprof.Line{{Function: fn, Line: int64(f.line)}}}
	b.locations[f] = l
	b.out.Location = append(b.out.Location, l)
	return l
}

// node adds samples of a node and of what it calls. The stack is the outermost first.
func (b *pprofBuilder) node(n *Node, stack []*pprof.Location) {
	for _, c := range n.Children {
		inner := stack[:len(stack):len(stack)]
		if c.Op < 0 {
			b.node(c, append(inner, b.at(frame{name: c.Name})))
			continue
		}
		op := &b.p.Ops[c.Op]
		for i := len(op.Frames) - 1; i >= 0 && len(c.Children) == 0; i-- {
			inner = append(inner, b.at(frameOf(op.Frames[i])))
		}
		if len(op.Frames) == 0 && op.Source != "" && len(c.Children) == 0 {
			inner = append(inner, b.at(frameOf(op.Source)))
		}
		inner = append(inner, b.at(frame{name: op.label(), file: b.p.File, line: op.Line}))
		b.sample(c, op, inner)
		b.node(c, inner)
	}
}

// sample adds the own time of a node.
func (b *pprofBuilder) sample(n *Node, op *Op, stack []*pprof.Location) {
	own := n.Seconds
	for _, c := range n.Children {
		own -= c.Seconds
	}
	ns := int64(own * float64(b.p.Runs) * 1e9)
	if ns <= 0 || n.Parallel {
		return
	}
	s := &pprof.Sample{Value: []int64{int64(op.Calls * float64(b.p.Runs)), ns}}
	for i := range stack {
		s.Location = append(s.Location, stack[len(stack)-1-i])
	}
	b.out.Sample = append(b.out.Sample, s)
}

// frameOf reads a frame as [origin.Origin] writes it.
func frameOf(text string) frame {
	name, file, line := origin.SplitFrame(text)
	if name == "" {
		name = text
	}
	return frame{name, file, line}
}
