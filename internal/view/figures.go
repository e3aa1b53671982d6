package view

import (
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// Figures are what the cost model says of each instruction, or a profile: all its executions together.
type Figures struct {
	Seconds figures `json:"seconds"`
	Flops   figures `json:"flops"`
	Bytes   figures `json:"bytes"` // read and written
	Rounds  figures `json:"rounds"`
	Total   float64 `json:"total"` // seconds of the program
	// Measured says that Seconds and Total are of a profile.
	Measured bool `json:"measured"`
	// Rates are those of the machine that the model is of: floating-point operations and bytes in a second.
	FlopRate float64 `json:"flopRate"`
	ByteRate float64 `json:"byteRate"`
	// LowerBound says that something of unknown cost is in the program.
	LowerBound bool `json:"lowerBound"`
}

// figures is a column of numbers of which four digits count.
type figures []float64

// MarshalJSON writes four digits of each number.
func (f figures) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, x := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, x, 'g', 4, 64)
	}
	return append(b, ']'), nil
}

func figuresOf(m hlo.Module, rates analysis.Rates) Figures {
	n := m.NumInstructions()
	f := Figures{Seconds: make(figures, 0, n), Flops: make(figures, 0, n), Bytes: make(figures, 0, n), Rounds: make(figures, 0, n),
		FlopRate: rates.Flops, ByteRate: rates.Bytes}
	costs := analysis.FindCosts(m)
	rounds := executions(m, costs)
	for c := range m.Computations() {
		times := rounds[c.ID()]
		for in := range c.Instructions() {
			var k analysis.Cost
			if times > 0 {
				k = costs.Of(in)
			}
			seconds := 0.0
			if !k.IsZero() {
				seconds = k.Seconds(rates) * times
			}
			f.Seconds = append(f.Seconds, seconds)
			f.Flops = append(f.Flops, float64(k.Flops+k.Transcendentals)*times)
			f.Bytes = append(f.Bytes, float64(k.Bytes)*times)
			f.Rounds = append(f.Rounds, times)
			if c.ID() == m.Entry().ID() {
				f.Total += seconds
			}
		}
	}
	f.LowerBound = costs.OfComputation(m.Entry().ID()).Unknown
	return f
}

// executions is how often each computation is executed as such; what only a fusion or a reduction applies is not.
func executions(m hlo.Module, costs *analysis.Costs) map[hlo.CompID]float64 {
	rounds := map[hlo.CompID]float64{m.Entry().ID(): 1}
	for _, c := range slices.Backward(slices.Collect(m.PostOrder())) { // callers first
		if rounds[c.ID()] == 0 {
			continue
		}
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpFusion || !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) {
				continue
			}
			n := 1.0
			if in.Opcode() == hlo.OpWhile {
				trips, _ := costs.Trips(in)
				n = float64(max(trips, 1))
			}
			for id := range in.Callees() {
				rounds[id] += rounds[c.ID()] * n
			}
		}
	}
	return rounds
}
