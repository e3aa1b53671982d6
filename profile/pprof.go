package profile

import (
	"compress/gzip"
	"io"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo/origin"
)

// WritePprof writes the profile for go tool pprof. A stack is the computations and control instructions from the entry down to an op, each with its line
// of the text, and below the op, where it comes from a line of the user's program, that line and the calls to it stand between. Values are calls
// and nanoseconds.
func (p *Profile) WritePprof(w io.Writer) error {
	b := pprofBuilder{p: p, strings: map[string]uint64{"": 0}, functions: map[[2]string]uint64{}, locations: map[frame]uint64{}}
	b.table = []string{""}
	b.valueType(pprofSampleType, "calls", "count")
	b.valueType(pprofSampleType, "time", "nanoseconds")
	b.node(p.Tree, []uint64{b.at(frame{name: p.Module})})
	b.valueType(pprofPeriodType, "time", "nanoseconds")
	b.out = number(b.out, pprofPeriod, 1)
	b.out = number(b.out, pprofDefaultSampleType, b.text("time"))
	b.out = number(b.out, pprofDuration, uint64(time.Duration(p.Seconds*float64(p.Runs)*1e9).Nanoseconds()))
	for _, s := range b.table {
		b.out = protowire.AppendTag(b.out, pprofStrings, protowire.BytesType)
		b.out = protowire.AppendString(b.out, s)
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(b.out); err != nil {
		return err
	}
	return z.Close()
}

// The fields of profile.proto's messages. The package of pprof itself compiles a dozen regular expressions at start.
const (
	pprofSampleType, pprofSample, pprofLocation, pprofFunction, pprofStrings       = 1, 2, 4, 5, 6
	pprofDuration, pprofPeriodType, pprofPeriod, pprofDefaultSampleType            = 10, 11, 12, 14
	pprofValueTypeType, pprofValueTypeUnit                                         = 1, 2
	pprofSampleLocation, pprofSampleValue                                          = 1, 2
	pprofLocationID, pprofLocationLine, pprofLineFunction, pprofLineLine           = 1, 4, 1, 2
	pprofFunctionID, pprofFunctionName, pprofFunctionSystemName, pprofFunctionFile = 1, 2, 3, 4
)

// frame is a line of a stack.
type frame struct {
	name, file string
	line       int
}

// pprofBuilder appends to a profile's message. Functions and locations are numbered from 1, strings from 0, the empty one.
type pprofBuilder struct {
	p         *Profile
	out       []byte
	table     []string
	strings   map[string]uint64
	functions map[[2]string]uint64
	locations map[frame]uint64
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// text is the number of a string.
func (b *pprofBuilder) text(s string) uint64 {
	i, ok := b.strings[s]
	if !ok {
		i = uint64(len(b.table))
		b.strings[s], b.table = i, append(b.table, s)
	}
	return i
}

func (b *pprofBuilder) valueType(field protowire.Number, kind, unit string) {
	b.out = message(b.out, field, number(number(nil, pprofValueTypeType, b.text(kind)), pprofValueTypeUnit, b.text(unit)))
}

// at is the location of a frame.
func (b *pprofBuilder) at(f frame) uint64 {
	if id, ok := b.locations[f]; ok {
		return id
	}
	key := [2]string{f.name, f.file}
	function, ok := b.functions[key]
	if !ok {
		function = uint64(len(b.functions) + 1)
		b.functions[key] = function
		m := number(number(nil, pprofFunctionID, function), pprofFunctionName, b.text(f.name))
		m = number(number(m, pprofFunctionSystemName, b.text(f.name)), pprofFunctionFile, b.text(f.file))
		b.out = message(b.out, pprofFunction, m)
	}
	id := uint64(len(b.locations) + 1)
	b.locations[f] = id
	line := number(number(nil, pprofLineFunction, function), pprofLineLine, uint64(f.line))
	b.out = message(b.out, pprofLocation, message(number(nil, pprofLocationID, id), pprofLocationLine, line))
	return id
}

// node adds samples of a node and of what it calls. The stack is the outermost first.
func (b *pprofBuilder) node(n *Node, stack []uint64) {
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
func (b *pprofBuilder) sample(n *Node, op *Op, stack []uint64) {
	own := n.Seconds
	for _, c := range n.Children {
		own -= c.Seconds
	}
	ns := int64(own * float64(b.p.Runs) * 1e9)
	if ns <= 0 || n.Parallel {
		return
	}
	var m []byte
	for _, location := range slices.Backward(stack) {
		m = number(m, pprofSampleLocation, location)
	}
	m = number(number(m, pprofSampleValue, uint64(op.Calls*float64(b.p.Runs))), pprofSampleValue, uint64(ns))
	b.out = message(b.out, pprofSample, m)
}

// frameOf reads a frame as [origin.Origin] writes it.
func frameOf(text string) frame {
	name, file, line := origin.SplitFrame(text)
	if name == "" {
		name = text
	}
	return frame{name, file, line}
}
