package halocmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/profile"
)

// statsCmd counts.
type statsCmd struct {
	Files   []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`
	Top     natural  `help:"List so many of the most expensive instructions." default:"10" placeholder:"N"`
	Profile string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON    bool     `name:"json" help:"One JSON object for each file."`

	measuredFlag `embed:""`
	readFlags    `embed:""`
}

// Help is what --help says beyond the flags.
func (statsCmd) Help() string {
	return `Reports the number of instructions by opcode, the sizes of parameters, results and constants, and the cost of one execution by the cost model: floating-point
operations, transcendental functions, and bytes read and written outside of fusions. The time is that of one core of a server; it
compares parts of a program, and does not predict. The body of a loop counts once for each round if the number of rounds is known
(halo opt --passes=while-loop-trip-count-annotator finds it), else once, and the total is then a lower bound.

Collectives are listed by kind and size of group, with the bytes that each device sends around a ring of neighbours; for up to 64 devices also
by link between two devices.

--measured shows the times of a profile beside those of the cost model. Instructions are found under the names that they ran under, or under those of
the text that was profiled; one that a pass put into a fusion shows the time of the whole fusion. To see fusions instead, optimise first:

  halo opt --passes=cpu model.hlo > fused.hlo
  halo profile -O0 --json fused.hlo > times.json
  halo stats --measured=times.json fused.hlo`
}

func (c *statsCmd) Run(e *env) error {
	return c.eachMeasured(e, c.Files, moduleOptions{profile: c.Profile}, c.JSON, func(_ *input, r *record, m hlo.Module, times *profile.Measurements) error {
		s := statsOf(m, times, int(c.Top))
		if !c.JSON {
			s.print(e.stdout, m.Name())
			return nil
		}
		r.add("stats", s)
		return nil
	})
}

// stats is what a module consists of and takes.
type stats struct {
	size
	traffic
	Parameters      int            `json:"parameters"` // leaves
	ParameterBytes  int64          `json:"parameter_bytes"`
	ResultBytes     int64          `json:"result_bytes"`
	Transcendentals int64          `json:"transcendentals"`
	Seconds         float64        `json:"seconds"`
	LowerBound      bool           `json:"lower_bound"` // something of unknown cost is in it
	Opcodes         map[string]int `json:"opcodes"`
	Measured        *believed      `json:"measured,omitempty"`
	Top             []expensive    `json:"top,omitempty"`
}

// expensive is an instruction with its cost, all rounds of the loops around it together.
type expensive struct {
	Instruction string  `json:"instruction"`
	Computation string  `json:"computation"`
	Opcode      string  `json:"opcode"`
	Shape       string  `json:"shape"`
	Rounds      int64   `json:"rounds"`
	Flops       int64   `json:"flops"`
	Bytes       int64   `json:"bytes"`
	Seconds     float64 `json:"seconds"`
	measured
}

func statsOf(m hlo.Module, times *profile.Measurements, top int) *stats {
	s := &stats{size: sizeOf(m), traffic: trafficOf(m), Opcodes: map[string]int{}}
	leaves := func(shape hlo.Shape) (n int, bytes int64) {
		for _, leaf := range shape.Leaves {
			if leaf.IsArray() {
				n++
				bytes += leaf.ByteSize()
			}
		}
		return n, bytes
	}
	for i := range m.Entry().NumParameters() {
		n, bytes := leaves(m.Entry().Parameter(i).Shape())
		s.Parameters += n
		s.ParameterBytes += bytes
	}
	_, s.ResultBytes = leaves(m.Entry().Root().Shape())
	for c := range m.Computations() {
		for in := range c.Instructions() {
			s.Opcodes[in.Opcode().String()]++
		}
	}
	costs := analysis.FindCosts(m)
	total := costs.OfComputation(m.Entry().ID())
	s.Flops, s.Transcendentals, s.LowerBound = total.Flops, total.Transcendentals, total.Unknown
	for c, rounds := range analysis.Executions(m) {
		for in := range c.Instructions() {
			k := costs.Of(in)
			x := expensive{in.Name(), c.Name(), in.Opcode().String(), in.Shape().String(), rounds, (k.Flops + k.Transcendentals) * rounds,
				k.Bytes * rounds, k.Seconds(rates()) * float64(rounds), measurementOf(times, in)}
			// Instructions that run computations are listed by their parts, where these are measured.
			if control := in.Opcode() != hlo.OpFusion && hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl); !control {
				s.Seconds += x.Seconds
			} else if !x.own() {
				continue
			}
			if !k.IsZero() || x.own() {
				s.Top = append(s.Top, x)
			}
		}
	}
	slices.SortStableFunc(s.Top, func(a, b expensive) int { return cmp.Compare(b.most(), a.most()) })
	if times != nil {
		s.Measured = believedOf(s.Top)
	}
	s.Top = slices.Clip(s.Top[:min(len(s.Top), max(top, 0))])
	return s
}

func (s *stats) print(out io.Writer, name string) {
	bound := ""
	if s.LowerBound {
		bound = ", at least: a loop of unknown length or a custom call is in it"
	}
	fmt.Fprintf(out, "%s: %d instructions in %d computations\n", name, s.Instructions, s.Computations)
	fmt.Fprintf(out, "  parameters %d, %s; results %s; constants %s\n", s.Parameters, orNothing(s.ParameterBytes), orNothing(s.ResultBytes), orNothing(s.ConstantBytes))
	fmt.Fprintf(out, "  %.4g flops, %.4g transcendentals, %s moved, %.4g ms%s\n", float64(s.Flops), float64(s.Transcendentals), orNothing(s.Bytes), s.Seconds*1e3, bound)
	byCount := slices.SortedFunc(maps.Keys(s.Opcodes), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Opcodes[b], s.Opcodes[a]), strings.Compare(a, b))
	})
	for _, op := range byCount {
		fmt.Fprintf(out, "%10d  %s\n", s.Opcodes[op], op)
	}
	s.traffic.print(out)
	if s.Measured != nil {
		s.Measured.print(out)
	}
	for i, x := range s.Top {
		measured, rest := "", ""
		if s.Measured != nil {
			measured = x.measured.text()
		}
		switch {
		case i > 0:
		case s.Measured != nil:
			fmt.Fprintf(out, "most expensive:\n%13s%13s\n", "believed", "measured")
		default:
			fmt.Fprint(out, "most expensive:\n")
		}
		if x.Rounds > 1 {
			rest = fmt.Sprintf(", %d times", x.Rounds)
		}
		if len(x.Within) > 0 {
			rest += ", measured with all of %" + strings.Join(x.Within, ", %")
		}
		fmt.Fprintf(out, "%10.4f ms%s  %%%s = %s %s in %%%s%s\n", x.Seconds*1e3, measured, x.Instruction, x.Shape, x.Opcode, x.Computation, rest)
	}
}

func orNothing(n int64) string { return cmp.Or(bytesText(n), "nothing") }
