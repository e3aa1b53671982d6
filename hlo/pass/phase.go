package pass

import (
	"fmt"
	"slices"
)

// Phase is a property of modules that passes establish, rely on, or undo.
type Phase string

// The phases.
const (
	Legal     Phase = "legal"     // lowering accepts it
	Flattened Phase = "flattened" // every computation is called from one place
	Fused     Phase = "fused"     // elementwise code is in fusions made for this machine
	Async     Phase = "async"     // expensive work is begun early
	Scheduled Phase = "scheduled" // the order of instructions is a decision
)

// Conflict is a pass of a pipeline that is out of place.
type Conflict struct{ Pass, Why string }

func (c Conflict) String() string { return fmt.Sprintf("%s: %s", c.Pass, c.Why) }

// Conflicts looks for passes that are out of place among those that run: one that undoes what an earlier one has established, and one that runs
// before a pass that the constraints put in front of it. None of this makes a program wrong. Passes that run in a fixpoint, or several times,
// is judged by its last run.
func Conflicts(running []*Pass, orders []Order) (all []Conflict) {
	last := map[string]int{}
	for i, p := range running {
		last[p.Name] = i
	}
	for i, p := range running {
		if last[p.Name] != i {
			continue
		}
		for j, later := range running[i+1:] {
			if last[later.Name] != i+1+j {
				continue
			}
			for _, phase := range later.Breaks {
				if slices.Contains(p.Makes, phase) {
					all = append(all, Conflict{later.Name, fmt.Sprintf("undoes what %s has made (phase %s)", p.Name, phase)})
				}
			}
		}
	}
	for _, o := range orders {
		before, a := last[o.Before]
		after, b := last[o.After]
		first := slices.IndexFunc(running, func(p *Pass) bool { return p.Name == o.Before })
		if a && b && first > after && before > after {
			all = append(all, Conflict{o.Before, fmt.Sprintf("belongs before %s: %s", o.After, o.Because)})
		}
	}
	return all
}
