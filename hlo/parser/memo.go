package parser

import "github.com/gohalo/halo/hlo"

// memo remembers what texts within one parse meant, so that each spelling is parsed once and its value is shared.
type memo struct {
	shapes       map[string]recentShape // by text
	canonical    map[string]hlo.Shape   // by printed form
	recent       [numRecent]recentShape
	owned        []ownedShape // of those read ahead, by number
	layouts      map[string]*hlo.Layout
	attrs        map[attrsKey]hlo.OpAttrs
	constants    map[constantKey]*hlo.ConstantAttrs
	params       []*hlo.ParameterAttrs       // by number
	values       map[valueKey]any            // structured attribute values by kind and text
	plain        [hlo.NumOpcodes]hlo.OpAttrs // of instructions without own attributes
	tails        map[string]tail             // by text
	commonSlab   []hlo.Common
	metadataSlab []hlo.Metadata
	scratch      []byte
	// keepLayouts leaves layouts unset whatever the configuration says.
	keepLayouts bool
}

// attrsKey is an opcode and the text from the first to the last of its own attributes.
type attrsKey struct {
	op   hlo.Opcode
	text string
}

type constantKey struct {
	shape hlo.Shape
	text  string
}

// valueKey is the text of a structured value and the kind of text it is.
type valueKey struct{ kind, text string }

func (m *memo) init() {
	m.shapes = make(map[string]recentShape)
	m.canonical = make(map[string]hlo.Shape)
	m.layouts = make(map[string]*hlo.Layout)
	m.attrs = make(map[attrsKey]hlo.OpAttrs)
	m.constants = make(map[constantKey]*hlo.ConstantAttrs)
	m.values = make(map[valueKey]any)
	m.tails = make(map[string]tail)
}

// forgetShapes forgets what the texts of shapes mean.
func (m *memo) forgetShapes() {
	m.shapes = make(map[string]recentShape)
	m.recent = [numRecent]recentShape{}
}

// maxMemoText is the longest text worth remembering for small values.
const maxMemoText = 64

// parameterAttrs are the attributes of parameter(n), shared.
func (m *memo) parameterAttrs(n int64) *hlo.ParameterAttrs {
	if n >= 4096 {
		return &hlo.ParameterAttrs{Number: n}
	}
	for int64(len(m.params)) <= n {
		m.params = append(m.params, nil)
	}
	if m.params[n] == nil {
		m.params[n] = &hlo.ParameterAttrs{Number: n}
	}
	return m.params[n]
}

// slab is how many attributes are made at a time: few in a short text.
func (p *parser) slab() int { return max(1, min(64, len(p.text)>>10)) }
