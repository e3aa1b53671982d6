package view

import (
	"cmp"
	"encoding/json"
	"fmt"

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
		Runs int `json:"runs"`
		Ops  []struct {
			origin.Origin
			Calls   float64 `json:"calls"`
			Seconds float64 `json:"seconds"`
			Limit   string  `json:"limit"`
		} `json:"ops"`
	} `json:"profile"`
}

// ReadOverlay reads an overlay for p from a file: a record of halo profile --json, or
//
//	{"title": "Measured", "unit": "s", "values": [{"instruction": "dot.3", "value": 0.0012, "label": "12 calls"}]}
//
// Instructions that p does not have are an error if they are all of them.
func ReadOverlay(name string, data []byte, p *Program) (*Overlay, error) {
	var n named
	if err := json.Unmarshal(data, &n); err != nil {
		return nil, fmt.Errorf("%s: error: this is no overlay: %w; want {\"title\": \"…\", \"unit\": \"s\", \"values\": [{\"instruction\": \"dot.3\", \"value\": 0.5}]}", name, err)
	}
	o := &Overlay{ID: name, Title: cmp.Or(n.Title, name), About: n.About, Unit: n.Unit}
	of := len(n.Values)
	for _, v := range n.Values {
		if i, ok := p.Index(v.Instruction); ok {
			o.Values = append(o.Values, Value{i, v.Value, v.Label})
		}
	}
	if n.Profile != nil {
		of = len(n.Profile.Ops)
		o.profile(p, &n)
	}
	if len(o.Values) == 0 {
		return nil, fmt.Errorf("%s: error: none of the %d instructions named there is in %s", name, of, p.File)
	}
	return o, nil
}

// profile takes over measured times. The time of what passes have made, such as a fusion, is shared by the instructions of the text that it stands for.
func (o *Overlay) profile(p *Program, n *named) {
	o.Title, o.Unit, o.About = "Time (measured)", "s", fmt.Sprintf("Measured in %d runs: the time of a run.", n.Profile.Runs)
	sums := map[int]*Value{}
	var order []int
	for _, op := range n.Profile.Ops {
		names := op.Of
		if _, ok := p.Index(op.Name); ok || len(names) == 0 {
			names = []string{op.Name}
		}
		label := fmt.Sprintf("%.4g µs in %.4g calls", op.Seconds*1e6, op.Calls)
		if len(names) > 1 {
			label = fmt.Sprintf("part of %s: %s", op.Name, label)
		}
		if op.Limit != "" {
			label += ", limited by " + op.Limit
		}
		for _, name := range names {
			i, ok := p.Index(name)
			if !ok {
				continue
			}
			if sums[i] == nil {
				sums[i] = &Value{Instr: i, Label: label}
				order = append(order, i)
			} else {
				sums[i].Label += "; " + label
			}
			sums[i].Number += op.Seconds / float64(len(names))
		}
	}
	for _, i := range order {
		o.Values = append(o.Values, *sums[i])
	}
}
