package loops

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// channels are those of a program, and what was in it when they were read.
type channels struct {
	last   int64 // the largest; 0: there are none
	limits map[hlo.CompID]hlo.InstrID
}

func findChannels(m hlo.Module) *channels {
	ch := &channels{limits: map[hlo.CompID]hlo.InstrID{}}
	collectives := hlo.OpcodesWith(hlo.TraitCollective)
	for c := range m.Computations() {
		if ch.last == 0 && c.Opcodes().Meets(collectives) {
			ch.last = analysis.LargestChannel(m)
		}
		ch.limits[c.ID()] = hlo.InstrID(c.IDLimit())
	}
	return ch
}

// give gives each collective that has come since a channel of its own, if it is on one: it is another transfer.
func (ch *channels) give(e *hlo.Editor) {
	if ch.last == 0 {
		return
	}
	for comp := range e.Computations() {
		c := e.Computation(comp)
		var own []hlo.InstrID
		for in := range c.View().Instructions() {
			if id, ok := in.Attr("channel_id"); ok && in.ID() >= ch.limits[comp] && id != (hlo.OptInt{}) {
				own = append(own, in.ID())
			}
		}
		for _, id := range own {
			ch.last++
			c.Instr(id).SetAttr("channel_id", hlo.SomeInt(ch.last))
		}
	}
}
