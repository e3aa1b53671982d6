package parser

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// commonKeys are the attributes of every instruction, in the order of the constants below.
var commonKeys = [...]string{
	"sharding", "frontend_attributes", "statistics", "result_accuracy", "origin", "metadata", "backend_config", "parameter_replication",
	"control-predecessors",
}

const (
	commonSharding = iota
	commonFrontend
	commonStatistics
	commonAccuracy
	commonOrigin
	commonMetadata
	commonBackend
	commonReplication
	commonControl
)

// commonByKey is the index of a key in commonKeys, -1 for any other key.
func commonByKey(key string) int {
	switch key {
	case "metadata":
		return commonMetadata
	case "backend_config":
		return commonBackend
	}
	return slices.Index(commonKeys[:], key)
}

// tailKinds are the attributes whose values depend on nothing but their text.
const tailKinds = 1<<commonFrontend | 1<<commonStatistics | 1<<commonOrigin | 1<<commonMetadata | 1<<commonBackend

// tail is what common attributes that end an instruction mean.
type tail struct {
	common *hlo.Common
	seen   uint32
}

// maxTail is the longest text that is looked up as a tail, so that texts without line ends do not take time by the square of their size.
const maxTail = 4096

// commonAttribute reads the value of common attribute k. Most instructions of real programs end in common attributes that another one of
// the text ends in, too, so the rest of the line is looked up before it is read.
func (p *parser) commonAttribute(f *scope, d *draft, k, keyAt int) {
	if d.tailAt == 0 && tailKinds>>k&1 != 0 {
		if p.sameTail(d, keyAt) {
			return
		}
		d.tailAt = keyAt
	}
	if tailKinds>>k&1 == 0 {
		d.tailAt = 0
	}
	p.once(&d.seenCommon, k, commonKeys[k], keyAt)
	if k == commonControl {
		p.predecessors(f, d)
		return
	}
	c := p.commonOf(d)
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
}

// commonOf is the common attributes of a draft, made when there are none yet.
func (p *parser) commonOf(d *draft) *hlo.Common {
	if d.spec.Common == nil {
		if len(p.commonSlab) == 0 {
			p.commonSlab = make([]hlo.Common, p.slab())
		}
		d.spec.Common, p.commonSlab = &p.commonSlab[0], p.commonSlab[1:]
	}
	return d.spec.Common
}

// sameTail takes the rest of the line, from the key at keyAt on, if an instruction before ended in the same text.
func (p *parser) sameTail(d *draft, keyAt int) bool {
	if d.seenCommon&tailKinds != 0 {
		return false
	}
	rest := p.src[keyAt:min(len(p.src), keyAt+maxTail)]
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	t, ok := p.tails[rest]
	if !ok {
		return false
	}
	if i := skipSpace(p.src, keyAt+len(rest)); i < len(p.src) && p.src[i] == ',' {
		return false // more comes in another line
	}
	p.pos = keyAt + len(rest)
	d.seenCommon |= t.seen
	if d.spec.Common == nil {
		d.spec.Common = t.common
		return true
	}
	c := d.spec.Common // has a sharding or so
	c.FrontendAttributes, c.Statistics, c.Origin = t.common.FrontendAttributes, t.common.Statistics, t.common.Origin
	c.Metadata, c.BackendConfig = t.common.Metadata, t.common.BackendConfig
	return true
}

// keepTail remembers the common attributes that the instruction ends in, when they end the line.
func (p *parser) keepTail(d *draft) {
	if d.tailAt == 0 || p.pos-d.tailAt > maxTail || p.pos < len(p.src) && p.src[p.pos] != '\n' {
		return
	}
	c := d.spec.Common
	if d.seenCommon&^tailKinds != 0 || c.Unknown != nil {
		c = &hlo.Common{
			FrontendAttributes: c.FrontendAttributes, Statistics: c.Statistics, Origin: c.Origin, Metadata: c.Metadata, BackendConfig: c.BackendConfig,
		}
	}
	p.tails[p.src[d.tailAt:p.pos]] = tail{c, d.seenCommon & tailKinds}
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
		read(p.subAttribute(allowedKeys, func(key string) int { return slices.Index(allowedKeys, key) }, &seen))
	}
	p.pos++
	return seen
}

// subAttribute takes one key of sub attributes, and returns its index.
func (p *parser) subAttribute(allowedKeys []string, index func(string) int, seen *uint64) int {
	p.accept(',')
	p.space()
	at := p.pos
	key := p.key()
	if key == "" {
		p.failAt(at, "expects attribute name")
	}
	i := index(key)
	if i < 0 {
		p.failHint(at, didYouMean(key, allowedKeys), "unexpected attribute %q. Allowed attributes: %s", key, strings.Join(allowed(allowedKeys), ", "))
	}
	if *seen&(1<<i) != 0 {
		p.failAt(at, "attribute %s already exists", key)
	}
	*seen |= 1 << i
	return i
}

// metadataKeys are the keys of metadata (hlo-text section 6.4).
var metadataKeys = []string{
	"op_type", "op_name", "source_file", "source_line", "source_end_line", "source_column", "source_end_column", "profile_type",
	"deduplicated_name", "scheduling_name", "stack_frame_id", "metadata_payload",
}

// metadata takes the value of metadata.
func (p *parser) metadata() *hlo.Metadata {
	if len(p.metadataSlab) == 0 {
		p.metadataSlab = make([]hlo.Metadata, p.slab())
	}
	m := &p.metadataSlab[0]
	p.metadataSlab = p.metadataSlab[1:]
	p.expect('{', "expects '{' at the start of sub attributes")
	for seen := uint64(0); p.peek() != '}'; {
		switch p.subAttribute(metadataKeys, metadataKey, &seen) {
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
			m.ProfileType = p.profileTypes()
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
	}
	p.pos++
	return m
}

// metadataKey is the index of a key in metadataKeys, -1 for any other key.
func metadataKey(key string) int {
	switch key {
	case "op_name":
		return 1
	case "source_file":
		return 2
	case "source_line":
		return 3
	case "stack_frame_id":
		return 10
	}
	return slices.Index(metadataKeys, key)
}

func (p *parser) profileTypes() []int64 {
	p.space()
	at := p.pos
	types := p.intList()
	for _, t := range types {
		if t < 0 || t > 3 {
			p.failAt(at, "unknown profile_type %d", t)
		}
	}
	return types
}
