package view

import (
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo/origin"
)

// memoryReport is what halo mem --json writes, as far as it is shown.
type memoryReport struct {
	Peak  int64 `json:"peak_bytes"`
	Steps []struct {
		Name string `json:"name"`
		Live int64  `json:"live_bytes"`
	} `json:"steps"`
	Buffers []struct {
		origin.Origin
		Kind  string `json:"kind"`
		Bytes int64  `json:"bytes"`

		Keeper string `json:"keeper"`
		AtPeak bool   `json:"at_peak"`
	} `json:"buffers"`
}

// overlays are how much of the plan is in use when each instruction runs, and what is alive at the peak. What passes have made is shown at the
// instructions of the text that it stands for.
func (r *memoryReport) overlays(p *Program) []*Overlay {
	of := map[string][]string{}
	for _, b := range r.Buffers {
		of[b.Name] = b.Of
	}
	inText := func(name string) (all []int) {
		if i, ok := p.Index(name); ok {
			return []int{i}
		}
		for _, x := range of[name] {
			if i, ok := p.Index(x); ok {
				all = append(all, i)
			}
		}
		return all
	}
	live := &Overlay{ID: "live", Title: "Memory in use", Unit: "B", About: fmt.Sprintf("How much of the plan is in use when an instruction runs; at most %d bytes.", r.Peak)}
	at := map[int]int{}
	for _, s := range r.Steps {
		for _, i := range inText(s.Name) {
			if k, twice := at[i]; twice {
				live.Values[k].Number = max(live.Values[k].Number, float64(s.Live))
				continue
			}
			at[i] = len(live.Values)
			live.Values = append(live.Values, Value{Instr: i, Number: float64(s.Live)})
		}
	}
	peak := &Overlay{ID: "peak", Title: "Alive at the peak", Unit: "B", About: "Which results are kept when most memory is in use. Arguments, results and constants lie outside of the plan."}
	seen := map[int]bool{}
	for _, b := range r.Buffers {
		if !b.AtPeak {
			continue
		}
		label := fmt.Sprintf("%d bytes", b.Bytes)
		if b.Kind != "temporary" {
			label += " of " + b.Kind
		}
		if b.Keeper != "" {
			label += ", kept for %" + strings.TrimPrefix(b.Keeper, "%")
		}
		for _, i := range inText(b.Name) {
			if !seen[i] {
				seen[i] = true
				peak.Values = append(peak.Values, Value{i, float64(b.Bytes), label})
			}
		}
	}
	return []*Overlay{live, peak}
}
