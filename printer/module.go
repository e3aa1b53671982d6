package printer

import (
	"iter"
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// module writes the header, the tables, and the computations, callees first.
func (p *printer) module() {
	p.front()
	if n := p.workers(); n > 1 {
		p.parallel(n, chunkSize)
		return
	}
	p.computations()
}

// front writes what is before the computations.
func (p *printer) front() {
	p.indent(p.Indent)
	p.header()
	p.line()
	p.stackFrames()
	p.line()
}

// computations writes all computations, one after the other.
func (p *printer) computations() {
	entry := p.m.Entry()
	for c := range p.order() {
		if p.isSugared(c.ID()) {
			continue
		}
		p.computation(c, p.Indent, c.ID() == entry.ID(), false)
		if !p.between() {
			return
		}
	}
}

// between ends the last line of a computation and leaves one blank. It reports whether to go on.
func (p *printer) between() bool {
	p.line()
	return p.line()
}

// order is that in which the computations are written, callees first: for ModuleOrder as they stand in the module, unless some callee
// stands after its caller.
func (p *printer) order() iter.Seq[hlo.Computation] {
	if !p.ModuleOrder {
		return p.m.PostOrder()
	}
	seen := make([]bool, p.m.CompIDLimit())
	for c := range p.m.Computations() {
		for in := range c.Instructions() {
			for callee := range in.Callees() {
				if !seen[callee] {
					return p.m.PostOrder()
				}
			}
		}
		seen[c.ID()] = true
	}
	return p.m.Computations()
}

func (p *printer) header() {
	c := p.m.Config()
	p.str("HloModule ")
	if !p.OmitIDs {
		if isReserved(p.m.Name()) { // XLA leaves the '%' out, and cannot read what it wrote
			p.str("%")
		}
		p.str(p.m.Name())
	}
	if c.IsScheduled {
		p.str(", is_scheduled=true")
	}
	if len(c.InputOutputAlias) > 0 {
		p.str(", input_output_alias={ ")
		for i := range c.InputOutputAlias {
			p.sep(i)
			p.b = c.InputOutputAlias[i].AppendText(p.b)
			p.spill()
		}
		p.str(" }")
	}
	if len(c.BufferDonors) > 0 {
		p.str(", buffer_donor={ ")
		for i := range c.BufferDonors {
			p.sep(i)
			p.b = c.BufferDonors[i].AppendText(p.b)
		}
		p.str(" }")
	}
	if c.AliasPassthrough {
		p.str(", alias_passthrough_params=true")
	}
	p.entryLayout(c)
	p.spmd(", allow_spmd_sharding_propagation_to_parameters={", c.AllowSPMDToParameters)
	p.spmd(", allow_spmd_sharding_propagation_to_output={", c.AllowSPMDToOutput)
	if c.ReplicaCount > 1 {
		p.str(", replica_count=")
		p.int(c.ReplicaCount)
	}
	if c.NumPartitions > 1 {
		p.str(", num_partitions=")
		p.int(c.NumPartitions)
	}
	if f := c.FrontendAttributes; f != nil && len(f.Entries) > 0 {
		p.str(", frontend_attributes=")
		p.b = f.AppendText(p.b)
	}
	for _, u := range c.Unknown {
		p.str(", " + u.Key + "=" + u.Text)
	}
	p.originRecovery(c.OriginRecovery)
	p.debugAttributes(c.DebugAttributes)
}

// entryLayout writes the layouts the caller must use; while the header does not say, those of the entry computation.
func (p *printer) entryLayout(c *hlo.ModuleConfig) {
	var s hlo.ProgramShape
	switch {
	case c.EntryLayout != nil:
		s = *c.EntryLayout
	case !p.m.Entry().IsZero():
		s = p.m.Entry().Signature()
	default:
		return
	}
	p.str(", entry_computation_layout={(")
	for i, param := range s.Parameters {
		if i > 0 {
			p.str(", ")
			if i%5 == 0 {
				p.indexMark(i)
			}
		}
		p.b = param.AppendText(p.b, true)
		p.spill()
	}
	p.str(")->")
	p.b = append(s.Result.AppendText(p.b, true), '}')
}

// spmd writes permissions unless they are the default, one false.
func (p *printer) spmd(head string, allowed []bool) {
	if len(allowed) == 0 || len(allowed) == 1 && !allowed[0] {
		return
	}
	p.str(head)
	p.bools(allowed)
	p.str("}")
}

func (p *printer) bools(v []bool) {
	for i, x := range v {
		if i > 0 {
			p.b = append(p.b, ',')
		}
		p.b = strconv.AppendBool(p.b, x)
	}
}

func (p *printer) int(v int64) { p.b = strconv.AppendInt(p.b, v, 10) }

func (p *printer) indexMark(i int) {
	p.str("/*index=")
	p.int(int64(i))
	p.str("*/")
}

func (p *printer) sep(i int) {
	if i > 0 {
		p.str(", ")
	}
}
