package printer

import (
	"reflect"

	"github.com/gohalo/halo/hlo"
)

// attributes writes everything after the operands: own attributes, callees, common attributes. For a sugared start those of the wrapped
// instruction come first, as far as the start does not have them itself.
func (p *printer) attributes(in, wrapped hlo.Instruction, sugar bool, indent int) {
	own, common := in.Attrs(), in.Common()
	if sugar && in.Opcode() == hlo.OpAsyncStart {
		if !p.OmitAttributes {
			start, _ := own.(*hlo.AsyncStartAttrs)
			if start != nil && start.ExecutionThread != hlo.MainThread {
				p.key("async_execution_thread")
				p.b = hlo.AppendQuoted(p.b, start.ExecutionThread)
			}
			p.own(wrapped, wrapped.Attrs())
			p.callees(wrapped, indent)
			p.common(wrapped, missing(wrapped.Common(), common))
			if start != nil && len(start.OutputAliasing) > 0 {
				p.key("output_to_operand_aliasing")
				p.b = hlo.AppendOutputAliasing(p.b, start.OutputAliasing)
			}
		}
		if p.Bodies == BodyFull || p.Bodies == BodyNonSequential {
			p.callees(in, indent)
		}
	} else if _, unknown := in.UnknownOpcode(); !unknown {
		if !p.OmitAttributes {
			p.own(in, own)
		}
		p.callees(in, indent)
	}
	p.common(in, common)
}

// missing returns the common attributes of a wrapped instruction that its start does not have. Those below result_accuracy the two
// share, so they are written once, for the start.
func missing(root, start *hlo.Common) *hlo.Common {
	if root == nil {
		return nil
	}
	c := *root
	c.Origin, c.Metadata, c.BackendConfig = nil, nil, ""
	if start == nil {
		return &c
	}
	if start.FrontendAttributes != nil {
		c.FrontendAttributes = nil
	}
	if start.Statistics != nil && hlo.EqualAttr(start.Statistics, c.Statistics) {
		c.Statistics = nil
	}
	return &c
}

// key begins an attribute.
func (p *printer) key(k string) {
	p.b = append(append(append(p.b, ", "...), k...), '=')
}

// own writes the attributes that belong to the opcode.
func (p *printer) own(in hlo.Instruction, attrs hlo.OpAttrs) {
	if attrs == nil {
		return
	}
	v := reflect.ValueOf(attrs).Elem()
	fields := hlo.AttrFields(attrs)
	for i := range fields {
		f := &fields[i]
		if f.Key == compositeKey { // comes after the callee
			continue
		}
		fv := v.Field(f.Index)
		if f.Prints(fv) {
			p.attribute(in, f, fv.Addr().Interface())
		}
	}
}

// attribute writes one own attribute; value points to the field. The few whose text depends on more than their value are told
// apart here.
func (p *printer) attribute(in hlo.Instruction, f *hlo.AttrField, value any) {
	switch v := value.(type) {
	case **hlo.Window:
		if len((*v).Dims) == 0 && in.Opcode() != hlo.OpCustomCall {
			return
		}
	case *hlo.PrecisionConfig:
		if v.IsDefault() {
			return
		}
	case *hlo.CompareType:
		if in.NumOperands() > 0 && *v == hlo.DefaultCompareType(in.OperandInstr(0).Shape().Type()) {
			return
		}
	case **hlo.ReplicaGroups:
		g := *v
		switch p.Groups {
		case GroupsListed:
			g = g.Listed()
		case GroupsWithoutSub:
			g = g.WithoutSubAxes()
		}
		p.key(string(f.Key))
		p.b = g.AppendText(p.b)
		return
	case **hlo.Domain:
		p.key(string(f.Key))
		p.b = (*v).AppendText(p.b, !p.OmitMetadata)
		return
	case *hlo.OptInt:
		if p.OmitChannel && f.Key == "channel_id" {
			p.key(string(f.Key))
			p.str("_")
			return
		}
	case *string:
		if p.OmitFeedConfig && (f.Key == "infeed_config" || f.Key == "outfeed_config") {
			return
		}
	case *[]int64:
		if in.Opcode() == hlo.OpMap { // always all axes, whatever was written
			p.key(string(f.Key))
			p.allAxes(in.Shape().Rank())
			return
		}
	}
	p.key(string(f.Key))
	p.b = hlo.AppendAttr(p.b, value)
}

func (p *printer) allAxes(rank int) {
	p.str("{")
	for i := range rank {
		if i > 0 {
			p.str(",")
		}
		p.int(int64(i))
	}
	p.str("}")
}

// common writes the attributes that any instruction may have.
func (p *printer) common(in hlo.Instruction, c *hlo.Common) {
	if c == nil {
		p.control(in)
		return
	}
	if c.ParameterReplication != nil && !p.OmitIDs && !p.OmitAttributes {
		p.str(", parameter_replication={")
		p.bools(c.ParameterReplication)
		p.str("}")
	}
	if c.Sharding != nil {
		p.key("sharding")
		p.b = c.Sharding.AppendText(p.b, !p.OmitMetadata)
	}
	if f := c.FrontendAttributes; f != nil && len(f.Entries) > 0 && !p.OmitFrontend {
		p.key("frontend_attributes")
		p.b = f.AppendText(p.b)
	}
	p.control(in)
	if c.Statistics != nil && len(c.Statistics.Entries) > 0 {
		p.key("statistics")
		p.b = c.Statistics.AppendText(p.b)
	}
	if c.ResultAccuracy != nil {
		p.key("result_accuracy")
		p.b = c.ResultAccuracy.AppendText(p.b)
	}
	if c.Origin != nil && !p.OmitOrigin {
		p.key("origin")
		p.b = c.Origin.AppendText(p.b)
	}
	if !p.OmitMetadata {
		p.metadata(c.Metadata)
	}
	if c.BackendConfig != "" && !p.OmitConfig {
		p.key("backend_config")
		text := c.BackendConfig
		if p.SortConfig {
			text = sortJSON(text)
		}
		p.b = hlo.AppendDictOrQuoted(p.b, text)
	}
	for _, u := range c.Unknown {
		if !p.omits(u.Key) {
			p.key(u.Key)
			p.str(u.Text)
		}
	}
}

// omits reports whether an attribute that was kept as it is written is left out: where its value would be, could it be read.
func (p *printer) omits(key string) bool {
	switch key {
	case "": // the opcode
		return true
	case "metadata":
		return p.OmitMetadata
	case "origin":
		return p.OmitOrigin
	case "backend_config":
		return p.OmitConfig
	case "frontend_attributes":
		return p.OmitFrontend
	}
	return false
}

func (p *printer) control(in hlo.Instruction) {
	if p.OmitControl || in.NumControlPredecessors() == 0 {
		return
	}
	p.key("control-predecessors")
	first := true
	for id := range in.ControlPredecessors() {
		if first {
			p.str("{")
		} else {
			p.str(", ")
		}
		first = false
		p.reference(in.Computation().MustAt(id))
	}
	p.str("}")
}

func (p *printer) metadata(m *hlo.Metadata) {
	switch {
	case !m.IsWritten():
	case p.OpNameOnly:
		if m.OpName != "" {
			p.key("metadata")
			p.b = (&hlo.Metadata{OpName: m.OpName}).AppendText(p.b)
		}
	default:
		if p.InlineFrames && m.StackFrameID != 0 {
			if file, l, ok := p.m.Config().StackFrames.Location(m.StackFrameID); ok {
				c := *m
				c.StackFrameID = 0
				c.SourceFile, c.SourceLine, c.SourceEndLine = file, l.Line, l.EndLine
				c.SourceColumn, c.SourceEndColumn = l.Column, l.EndColumn
				m = &c
			}
		}
		p.key("metadata")
		p.b = m.AppendText(p.b)
	}
}
