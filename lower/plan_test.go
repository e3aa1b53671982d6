package lower

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
)

// TestPlansHoldTheirValues executes plans symbolically: memory holds names of values, every op must find the values it reads where the plan
// says they are, and what an op writes destroys whatever it overlaps.
func TestPlansHoldTheirValues(t *testing.T) {
	files, err := filepath.Glob("../testdata/run/*/prog.hlo")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	more, err := filepath.Glob("../../shared/corpus/reference/programs/*/prog.hlo")
	require.NoError(t, err)
	if len(more) == 0 {
		t.Log("the shared corpus is absent: only testdata is tried")
	}
	cpu, err := passes.Parse("cpu")
	require.NoError(t, err)
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		m, err := parser.ParseBytes(file, text)
		require.NoError(t, err)
		checkPlans(t, m, file)
		optimised, err := (&pass.Runner{}).Run(t.Context(), cpu, m)
		require.NoError(t, err)
		checkPlans(t, optimised, file+" after passes")
		checkPlans(t, hlotest.Donating(optimised), file+" after passes, with donations")
	}
}

func checkPlans(t *testing.T, m hlo.Module, name string) {
	l := newLowering(m)
	if _, err := l.function(t.Context(), m.Entry().ID(), plainCall, hlo.Shape{}); err != nil {
		t.Logf("%v", err) // what is refused has no plan
		return
	}
	for _, f := range l.order {
		if err := checkPlan(f); err != nil {
			t.Errorf("%s: computation %s: %v", name, f.comp.Name(), err)
		}
	}
}

// place is a range of bytes in one of the memories that a function sees.
type place struct {
	memory   string
	from, to int64
}

func placeOf(f *function, v valueID) place {
	s := f.stores[f.values[v].store]
	switch s.slot.Kind {
	case runtime.SlotArena:
		return place{"frame", s.slot.Index, s.slot.Index + s.bytes}
	case runtime.SlotArg:
		if i := slices.Index(f.over, int(s.slot.Index)); i >= 0 {
			return place{fmt.Sprintf("out %d", i), 0, s.bytes}
		}
		return place{fmt.Sprintf("arg %d", s.slot.Index), 0, s.bytes}
	case runtime.SlotOut:
		return place{fmt.Sprintf("out %d", s.slot.Index), 0, s.bytes}
	case runtime.SlotConst:
		return place{fmt.Sprintf("const %d", s.slot.Index), 0, s.bytes}
	}
	return place{}
}

func (p place) overlaps(q place) bool { return p.memory == q.memory && p.from < q.to && q.from < p.to }

// memory knows which value each place holds. Values that are aliases have one name.
type memory struct {
	f     *function
	holds map[place]string
}

func (m *memory) write(p place, name string) {
	if p.from == p.to {
		return
	}
	for q := range m.holds {
		if q.overlaps(p) {
			delete(m.holds, q)
		}
	}
	m.holds[p] = name
}

func checkPlan(f *function) error {
	mem := &memory{f, map[place]string{}}
	names := make([]string, len(f.values))
	for i, a := range f.args {
		names[a] = fmt.Sprintf("arg%d", i)
		mem.write(placeOf(f, a), names[a])
	}
	for k := range f.ops {
		o := &f.ops[k]
		for i, a := range o.args {
			if p := placeOf(f, a); p.from != p.to && mem.holds[p] != names[a] {
				return fmt.Errorf("op %d %s: argument %d: want value %s at %v, found %q", k, o.kernel, i, names[a], p, mem.holds[p])
			}
		}
		if o.control != nil && !o.control.Detached {
			// The callee may write anywhere in its frame.
			for i, at := range o.control.Frames {
				mem.write(place{"frame", at, at + o.callees[i].frameBytes}, "scratch")
			}
		}
		if o.chain != nil { // outputs are written from now on, operands must last
			for _, out := range o.chain.outputs {
				names[out] = fmt.Sprintf("v%d", out)
				mem.write(placeOf(f, out), names[out])
			}
		}
		for j, r := range o.results {
			if names[r] != "" {
				if p := placeOf(f, r); p.from != p.to && mem.holds[p] != names[r] {
					return fmt.Errorf("op %d %s: output %d was overwritten while in flight", k, o.kernel, j)
				}
				continue
			}
			names[r] = fmt.Sprintf("v%d", r)
			if p := placeOf(f, r); f.stores[f.values[r].store].slot.Kind == runtime.SlotConst {
				names[r] = p.memory // equal constants are one
			}
			for _, s := range o.share {
				if s.result == j && s.kind != inPlace && f.values[r].store == f.values[o.args[s.arg]].store {
					names[r] = names[o.args[s.arg]]
				}
			}
			if o.loop && f.values[r].store == f.values[o.args[j]].store && o.callees[1].passesArg[j] {
				names[r] = names[o.args[j]]
			}
			mem.write(placeOf(f, r), names[r])
		}
	}
	// Results are copied into the caller's memory one after the other.
	for i, r := range f.roots {
		p := placeOf(f, r)
		if p.from != p.to && mem.holds[p] != names[r] {
			return fmt.Errorf("result %d: want value %s at %v, found %q", i, names[r], p, mem.holds[p])
		}
		to := place{fmt.Sprintf("out %d", i), 0, p.to - p.from}
		if to != p {
			mem.write(to, names[r])
		}
	}
	return nil
}
