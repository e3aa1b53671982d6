package parser

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/hlo"
)

// headerAttribute is a row of the table of header attributes (hlo-text section 2.3).
type headerAttribute struct {
	key  string
	read func(*parser)
}

// It is filled by init, since reading a recovery table reads modules, which consult it.
var headerAttributes []headerAttribute

func init() {
	headerAttributes = []headerAttribute{
		{"is_scheduled", func(p *parser) { p.config.IsScheduled = p.bool() }},
		{"input_output_alias", (*parser).inputOutputAlias},
		{"buffer_donor", (*parser).bufferDonors},
		{"alias_passthrough_params", func(p *parser) { p.config.AliasPassthrough = p.bool() }},
		{"entry_computation_layout", (*parser).entryLayout},
		{"allow_spmd_sharding_propagation_to_parameters", func(p *parser) { p.config.AllowSPMDToParameters = p.boolOrList() }},
		{"allow_spmd_sharding_propagation_to_output", func(p *parser) { p.config.AllowSPMDToOutput = p.boolOrList() }},
		{"replica_count", func(p *parser) { p.config.ReplicaCount = p.count() }},
		{"num_partitions", func(p *parser) {
			p.config.NumPartitions = p.count()
			p.config.UseSPMD = p.config.NumPartitions != 1
		}},
		{"frontend_attributes", func(p *parser) { p.config.FrontendAttributes = p.frontendAttributes() }},
		{"origin_recovery_table", func(p *parser) { p.config.OriginRecovery = p.originRecovery() }},
		{"debug_attributes", func(p *parser) { p.config.DebugAttributes = p.debugAttributes() }},
	}
}

// header reads `HloModule name, key=value, ...`.
func (p *parser) header(t lexer.Token) {
	p.at(t)
	p.word()
	p.ed.SetName(p.name("expects name"))
	var seen []string
	for p.accept(',') {
		p.space()
		at := p.pos
		key := p.key()
		i := slices.IndexFunc(headerAttributes, func(a headerAttribute) bool { return a.key == key })
		switch {
		case key == "":
			p.failAt(at, "expects attribute name")
		case i < 0 && p.Lenient:
			p.space()
			start := p.pos
			p.skipValue()
			p.config.Unknown = append(p.config.Unknown, hlo.UnknownAttr{Key: key, Text: p.src[start:p.pos]})
			continue
		case i < 0:
			var names []string
			for _, a := range headerAttributes {
				names = append(names, a.key)
			}
			names = allowed(names)
			p.failHint(at, didYouMean(key, names), "unexpected attribute %q. Allowed attributes: %s", key, strings.Join(names, ", "))
		case slices.Contains(seen, key):
			p.failAt(at, "attribute %s already exists", key)
		}
		seen = append(seen, key)
		p.attrKey = key
		p.keepHeader(key, headerAttributes[i].read)
		p.attrKey = ""
	}
	if !p.atEnd() {
		p.fail("expects ',' or the first computation")
	}
	p.src = p.text
}

// count takes a number of replicas or partitions. XLA reads numbers below one and keeps them, although there is nothing they can mean.
func (p *parser) count() int64 {
	p.space()
	at := p.pos
	n := p.int()
	if n < 1 {
		p.warn(at, fmt.Sprintf("%s=%d is read as 1", p.attrKey, n))
	}
	return max(n, 1)
}

// boolOrList takes a boolean or a braced list of them.
func (p *parser) boolOrList() []bool {
	if p.peek() == '{' {
		return p.boolList()
	}
	return []bool{p.bool()}
}

const aliasEnd = "Expects '}' at the end of aliasing description"

// inputOutputAlias takes `{ {out}: (parameter, {index}, kind), ... }`, kept in the order of the outputs.
func (p *parser) inputOutputAlias() {
	n := 0 // a large program has thousands
	if p.peek() == '{' {
		end, _ := skipGroup(p.src, p.pos)
		n = strings.Count(p.src[p.pos:end], ":")
	}
	seen := make(map[string]bool, n)
	type place struct {
		hlo.Alias
		at int
	}
	list := make([]place, 0, n)
	p.listEnding(aliasEnd, func() {
		p.space()
		at := p.pos
		a := hlo.Alias{Output: p.shapeIndex()}
		const format = "Expected format: <output_shape_index>: (<input_param>, <input_param_shape_index>) OR <output_shape_index>: <input_param>"
		p.expect(':', format)
		p.expect('(', format)
		a.Parameter = p.parameterNumber()
		p.expect(',', format)
		a.ParameterIndex = p.shapeIndex()
		if p.accept(',') {
			p.space()
			kindAt := p.pos
			switch kind := p.word(); kind {
			case "may-alias":
			case "must-alias":
				a.Must = true
			default:
				p.failAt(kindAt, "Unexpected aliasing kind %q; expected may-alias or must-alias", kind)
			}
		}
		p.expect(')', format)
		if key := joinInts(a.Output); seen[key] {
			p.failRule("ALI-06", at, "output {%s} is aliased twice", key)
		} else {
			seen[key] = true
		}
		list = append(list, place{a, at})
	})
	slices.SortFunc(list, func(a, b place) int { return slices.Compare(a.Output, b.Output) })
	p.config.InputOutputAlias, p.aliasAt = slices.Grow(p.config.InputOutputAlias, n), slices.Grow(p.aliasAt, n)
	for _, a := range list {
		p.config.InputOutputAlias, p.aliasAt = append(p.config.InputOutputAlias, a.Alias), append(p.aliasAt, a.at)
	}
}

// parameterNumber takes a number that must not be negative.
func (p *parser) parameterNumber() int64 {
	p.space()
	at := p.pos
	n := p.int()
	if n < 0 {
		p.failAt(at, "parameter number must be >= 0")
	}
	return n
}

// bufferDonors takes `{ (parameter, {index}), ... }`: a set, kept in order.
func (p *parser) bufferDonors() {
	seen := make(map[string]bool)
	p.list(func() {
		const format = "Expected format: (<input_param>, <input_param_shape_index>)"
		p.expect('(', format)
		d := hlo.BufferDonor{Parameter: p.parameterNumber()}
		p.expect(',', format)
		d.Index = p.shapeIndex()
		p.expect(')', format)
		if key := joinInts(append([]int64{d.Parameter}, d.Index...)); !seen[key] {
			seen[key] = true
			p.config.BufferDonors = append(p.config.BufferDonors, d)
		}
	})
	slices.SortFunc(p.config.BufferDonors, func(a, b hlo.BufferDonor) int {
		return cmp.Or(cmp.Compare(a.Parameter, b.Parameter), slices.Compare(a.Index, b.Index))
	})
}

// outputAliases takes `{ {out}: (operand, {index}), ... }`.
func (p *parser) outputAliases() []hlo.OutputAlias {
	list := []hlo.OutputAlias{}
	p.listEnding(aliasEnd, func() {
		const format = "Expected format: <output_shape_index>: (<operand>, <operand_shape_index>)"
		a := hlo.OutputAlias{Output: p.shapeIndex()}
		p.expect(':', format)
		p.expect('(', format)
		a.Operand = p.int() // any number: the verifier knows how many operands there are
		p.expect(',', format)
		a.OperandIndex = p.shapeIndex()
		p.expect(')', format)
		list = append(list, a)
	})
	return list
}

// entryLayout takes `{(shape, ...)->shape}`.
func (p *parser) entryLayout() {
	p.keepLayouts = p.KeepAutoLayouts
	if p.keepLayouts {
		// Shapes read so far, if any, were given layouts, and these must not be given to others.
		defer func() {
			p.forgetShapes()
			p.keepLayouts = false
		}()
		p.forgetShapes()
	}
	layout := new(hlo.ProgramShape)
	p.expect('{', "Expects '{' at the start of entry_computation_layout")
	p.expect('(', "Expects '(' at the start of the parameter layouts")
	if !p.accept(')') {
		for {
			layout.Parameters = append(layout.Parameters, p.shape())
			if !p.accept(',') {
				break
			}
		}
		p.expect(')', "Expects ')' at the end of the parameter layouts")
	}
	if !p.acceptText("->") {
		p.fail("Expects '->' in entry_computation_layout")
	}
	layout.Result = p.shape()
	p.expect('}', "Expects '}' at the end of entry_computation_layout")
	p.config.EntryLayout = layout
}
