package parser

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// commonAttributes makes the attributes that any instruction may have out of the texts found for them.
func (p *parser) commonAttributes(d *draft) {
	perLeaf := false // some value depends on the shape, not on its text alone
	text := p.rawText(d, func(r *rawAttr) bool {
		perLeaf = perLeaf || r.index == maxOwnFields+commonSharding || r.index == maxOwnFields+commonReplication
		return r.index >= maxOwnFields
	})
	switch {
	case text == "":
		return
	case perLeaf:
		d.spec.Common = p.readCommon(d)
		return
	}
	c, ok := p.commons[text]
	if !ok {
		c = p.readCommon(d)
		p.commons[text] = c
	}
	d.spec.Common = c
}

// readCommon reads the texts. The result is nil when all of them mean the default.
func (p *parser) readCommon(d *draft) *hlo.Common {
	c := new(hlo.Common)
	some := false
	for _, r := range d.raws {
		if r.index < maxOwnFields {
			continue
		}
		k := r.index - maxOwnFields
		if k == commonUnknown {
			c.Unknown = append(c.Unknown, hlo.UnknownAttr{Key: r.unknown, Text: p.src[r.start:r.end]})
			some = true
			continue
		}
		p.within(r, commonKeys[k], func() {
			switch k {
			case commonSharding:
				c.Sharding = p.shardingOf(d.spec.Shape)
			case commonFrontend:
				c.FrontendAttributes = p.frontendAttributes()
			case commonStatistics:
				c.Statistics = p.statistics()
			case commonAccuracy:
				c.ResultAccuracy = p.resultAccuracy()
			case commonOrigin:
				c.Origin = p.origin()
			case commonMetadata:
				c.Metadata = p.metadata()
			case commonBackend:
				c.BackendConfig = p.stringOrDictionary()
			case commonReplication:
				c.ParameterReplication = p.replication(d)
			}
		})
		some = true
	}
	if !some {
		return nil
	}
	return c
}

// replication reads parameter_replication: a flag for each leaf of a parameter.
func (p *parser) replication(d *draft) []bool {
	if d.spec.Opcode != hlo.OpParameter {
		p.fail("only parameters can have parameter_replication")
	}
	p.space()
	at := p.pos
	flags := p.boolList()
	if n := d.spec.Shape.NumLeaves(); d.spec.Shape.IsValid() && n != len(flags) {
		p.failAt(at, "parameter has %d leaf buffers, but parameter_replication has %d elements.", n, len(flags))
	}
	return flags
}

// frontendAttributes takes `{key="value",key2={raw dictionary}}`; the last of equal keys counts.
func (p *parser) frontendAttributes() *hlo.FrontendAttributes {
	f := new(hlo.FrontendAttributes)
	p.list(func() {
		key := p.key()
		if key == "" {
			p.fail("expects attribute name")
		}
		f.Entries = append(f.Entries, hlo.FrontendAttribute{Key: key, Value: p.stringOrDictionary()})
	})
	slices.SortStableFunc(f.Entries, func(a, b hlo.FrontendAttribute) int { return strings.Compare(a.Key, b.Key) })
	kept := f.Entries[:0]
	for i, e := range f.Entries {
		if i+1 == len(f.Entries) || f.Entries[i+1].Key != e.Key {
			kept = append(kept, e)
		}
	}
	f.Entries = kept
	return f
}

// subAttributes takes `{key=value key=value}`, whose separators are spaces or commas. read is called behind each key, once for each.
func (p *parser) subAttributes(allowedKeys []string, read func(i int)) (seen uint64) {
	p.expect('{', "expects '{' at the start of sub attributes")
	for p.peek() != '}' {
		p.accept(',')
		p.space()
		at := p.pos
		key := p.key()
		if key == "" {
			p.failAt(at, "expects attribute name")
		}
		i := slices.Index(allowedKeys, key)
		if i < 0 {
			p.failHint(at, didYouMean(key, allowedKeys), "unexpected attribute %q. Allowed attributes: %s", key, strings.Join(allowed(allowedKeys), ", "))
		}
		if seen&(1<<i) != 0 {
			p.failAt(at, "attribute %s already exists", key)
		}
		seen |= 1 << i
		read(i)
	}
	p.pos++
	return seen
}

// metadataKeys are the keys of metadata (hlo-text section 6.4).
var metadataKeys = []string{
	"op_type", "op_name", "source_file", "source_line", "source_end_line", "source_column", "source_end_column", "profile_type",
	"deduplicated_name", "scheduling_name", "stack_frame_id", "metadata_payload",
}

// metadata takes the value of metadata.
func (p *parser) metadata() *hlo.Metadata {
	m := new(hlo.Metadata)
	p.subAttributes(metadataKeys, func(i int) {
		switch i {
		case 0:
			m.OpType = p.string()
		case 1:
			m.OpName = p.string()
		case 2:
			m.SourceFile = p.string()
		case 3:
			m.SourceLine = p.int32()
		case 4:
			m.SourceEndLine = p.int32()
		case 5:
			m.SourceColumn = p.int32()
		case 6:
			m.SourceEndColumn = p.int32()
		case 7:
			p.space()
			at := p.pos
			m.ProfileType = p.intList()
			for _, t := range m.ProfileType {
				if t < 0 || t > 3 {
					p.failAt(at, "unknown profile_type %d", t)
				}
			}
		case 8:
			m.DeduplicatedName = p.string()
		case 9:
			m.SchedulingName = p.string()
		case 10:
			m.StackFrameID = p.int32()
			p.hasFrameIDs = true
		case 11:
			m.Payload, m.HasPayload = p.string(), true
		}
	})
	return m
}
