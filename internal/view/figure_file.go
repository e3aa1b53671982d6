package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo/origin"
)

// named is an overlay as a file has it: instructions are names.
type named struct {
	Title  string `json:"title"`
	About  string `json:"about"`
	Unit   string `json:"unit"`
	Values []struct {
		Instruction string  `json:"instruction"`
		Value       float64 `json:"value"`
		Label       string  `json:"label"`
	} `json:"values"`
	// Profile is what halo profile --json writes.
	Profile *struct {
		Runs    int     `json:"runs"`
		Seconds float64 `json:"seconds"`
		Ops     []struct {
			origin.Origin
			Calls   float64 `json:"calls"`
			Seconds float64 `json:"seconds"`
			Total   float64 `json:"total_seconds"` // with what it calls
			Limit   string  `json:"limit"`
		} `json:"ops"`
	} `json:"profile"`
	Memory *memoryReport `json:"memory"`
}

// ReadOverlays reads overlays for p from a file: a record of halo profile --json or of halo mem --json, or
//
//	{"title": "Measured", "unit": "s", "values": [{"instruction": "dot.3", "value": 0.0012, "label": "12 calls"}]}
//
// Instructions that p does not have are an error if they are all of them.
func ReadOverlays(name string, data []byte, p *Program) ([]*Overlay, error) {
	var n named
	if err := json.Unmarshal(data, &n); err != nil {
		return nil, fmt.Errorf("%s: error: this is no overlay: %w; want {\"title\": \"…\", \"unit\": \"s\", \"values\": [{\"instruction\": \"dot.3\", \"value\": 0.5}]}", name, err)
	}
	var all []*Overlay
	of := 0
	switch {
	case n.Profile != nil:
		of = len(n.Profile.Ops)
		all = append(all, profiled(p, &n))
	case n.Memory != nil:
		of = len(n.Memory.Steps) + len(n.Memory.Buffers)
		all = n.Memory.overlays(p)
	default:
		of = len(n.Values)
		o := &Overlay{ID: name, Title: cmp.Or(n.Title, name), About: n.About, Unit: n.Unit}
		for _, v := range n.Values {
			if i, ok := p.Index(v.Instruction); ok {
				o.Values = append(o.Values, Value{i, v.Value, v.Label})
			}
		}
		all = append(all, o)
	}
	all = slices.DeleteFunc(all, func(o *Overlay) bool { return len(o.Values) == 0 })
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: error: none of the %d instructions named there is in %s", name, of, p.File)
	}
	return all, nil
}

// profiled takes over measured times, for the page's lists too. The time of what passes have made, such as a fusion, is shared by the instructions of
// the text that it stands for.
func profiled(p *Program, n *named) *Overlay {
	o := &Overlay{ID: "profile", Title: "Time (measured)", Unit: "s",
		About: fmt.Sprintf("The time of a run, measured in %d runs. A fusion's time is shared by what it stands for.", n.Profile.Runs)}
	measured := make(figures, len(p.Seconds))
	at := map[int]int{} // where in o.Values an instruction is
	for _, op := range n.Profile.Ops {
		names := op.Of
		if _, ok := p.Index(op.As); ok { // the page shows what passes have made
			names = []string{op.As}
		} else if len(names) == 0 {
			names = []string{op.Name}
		}
		label := fmt.Sprintf("%.4g µs, called %.4g ×", op.Seconds*1e6, op.Calls)
		if len(names) > 1 {
			label = fmt.Sprintf("part of %s: %s", cmp.Or(op.As, op.Name), label)
		}
		if op.Limit != "" {
			label += ", limited by " + op.Limit
		}
		for _, name := range names {
			i, ok := p.Index(name)
			if !ok {
				continue
			}
			if k, twice := at[i]; twice {
				o.Values[k].Label += "; " + label
			} else {
				at[i] = len(o.Values)
				o.Values = append(o.Values, Value{Instr: i, Label: label})
			}
			o.Values[at[i]].Number += op.Seconds / float64(len(names))
			measured[i] += op.Total / float64(len(names))
		}
	}
	if len(o.Values) > 0 {
		p.Seconds, p.Total, p.Measured = measured, n.Profile.Seconds, true
	}
	return o
}
