package diff

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Reason is why a compiler that knows A compiles B anew.
type Reason struct {
	Kind string `json:"kind"` // shapes, constants, flags, devices, donation, layout, options, program
	Text string `json:"text"`
}

// reasons are why B is another program for a cache of compiled programs, the usual causes first.
func reasons(a, b hlo.Module, r *Report) []Reason {
	list := []Reason{}
	add := func(kind, format string, args ...any) {
		list = append(list, Reason{kind, fmt.Sprintf(format, args...)})
	}
	x, y := a.Entry(), b.Entry()
	if x.NumParameters() != y.NumParameters() {
		add("shapes", "A has %d parameters and B has %d", x.NumParameters(), y.NumParameters())
	}
	for i := range min(x.NumParameters(), y.NumParameters()) {
		p, q := x.Parameter(i), y.Parameter(i)
		if s, t := p.Shape().WithoutLayout(), q.Shape().WithoutLayout(); !s.Equal(t) {
			add("shapes", "parameter %d, %s, is %v in A and %v in B", i, nameOf(p), s, t)
		}
	}
	constants := 0
	for i := range r.Changes {
		c := &r.Changes[i]
		if c.A == nil || c.B == nil || c.Old.Opcode() != hlo.OpConstant || c.Follows {
			continue
		}
		if constants++; constants > mostReasons {
			continue
		}
		for _, d := range c.Details {
			add("constants", "constant %s is %s in A and %s in B%s", c.B.Name, clip(d.A), clip(d.B), at(c.B.Where()))
		}
	}
	if constants > mostReasons {
		add("constants", "%d more constants differ", constants-mostReasons)
	}
	s, t := a.Config(), b.Config()
	flag := func(kind, name string, u, v any) {
		if fmt.Sprint(u) != fmt.Sprint(v) {
			add(kind, "%s is %v in A and %v in B", name, u, v)
		}
	}
	flag("devices", "replica_count", max(s.ReplicaCount, 1), max(t.ReplicaCount, 1))
	flag("devices", "num_partitions", max(s.NumPartitions, 1), max(t.NumPartitions, 1))
	flag("flags", "is_scheduled", s.IsScheduled, t.IsScheduled)
	for _, k := range []struct {
		kind, name string
		same       bool
	}{
		{"donation", "input_output_alias", hlo.EqualAttr(s.InputOutputAlias, t.InputOutputAlias)},
		{"donation", "buffer_donor", hlo.EqualAttr(s.BufferDonors, t.BufferDonors)},
		{"flags", "frontend_attributes", hlo.EqualAttr(s.FrontendAttributes, t.FrontendAttributes)},
	} {
		if !k.same {
			add(k.kind, "%s of the headers differs", k.name)
		}
	}
	if s.EntryLayout != nil && t.EntryLayout != nil && !hlo.EqualAttr(s.EntryLayout, t.EntryLayout) && len(list) == 0 {
		add("layout", "entry_computation_layout of the headers differs")
	}
	if n := r.Summary.Changed + r.Summary.OnlyA + r.Summary.OnlyB; n > constants && len(list) == 0 {
		add("program", "the instructions differ: %d are changed, %d only in A, %d only in B", r.Summary.Changed, r.Summary.OnlyA, r.Summary.OnlyB)
	}
	return list
}

const mostReasons = 8

func at(where string) string {
	if where == "" {
		return ""
	}
	return ", at " + where
}

// nameOf is the name that the frontend gave a parameter, else its own.
func nameOf(p hlo.Instruction) string {
	if c := p.Common(); c != nil && c.Metadata != nil && c.Metadata.OpName != "" {
		return c.Metadata.OpName
	}
	return p.Name()
}

func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
