package parser

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// originSyntax is an original value (hlo-text section 6.7).
type originSyntax struct {
	Synthetic bool        `parser:"'{' (  @('[' 'synthetic_call' ']')"`
	Tree      *originTree `parser:"     | @@ )"`
	Calls     []quoted    `parser:"(',' '[' @String (',' @String)* ']')? '}'"`
}

type originTree struct {
	Array    *originArray  `parser:"  @@"`
	Tuple    bool          `parser:"| @'('"`
	Elements []*originTree `parser:"  (@@ (',' @@)*)? ')'"`
}

type originArray struct {
	Name  *quoted   `parser:"'{' ( @String"`
	Index *intIndex `parser:"  @@? )? '}'"`
}

type intIndex struct {
	Ints []integer `parser:"'{' (@Int (',' @Int)* ','?)? '}'"`
}

var originGrammar = newGrammar[*originSyntax]("original value")

// origin takes the value of origin.
func (p *parser) origin() *hlo.Origin {
	if p.peek() != '{' {
		p.fail("Expects '{' to start original value")
	}
	at := p.pos
	return cached(p, originGrammar, p.group(), at, func(s *originSyntax, _ int) *hlo.Origin {
		o := new(hlo.Origin)
		if s.Synthetic {
			o.SyntheticCall = true
			return o
		}
		o.Tree = s.Tree.node()
		for _, c := range s.Calls {
			o.Tree.Calls = append(o.Tree.Calls, string(c))
		}
		// `{(),[""]}` is how later releases write a synthetic call.
		if t := o.Tree; t.IsTuple && len(t.Elements) == 0 && len(t.Calls) == 1 && t.Calls[0] == "" {
			return &hlo.Origin{SyntheticCall: true}
		}
		return o
	})
}

func (t *originTree) node() *hlo.OriginNode {
	if t.Array != nil {
		n := t.Array.node()
		return &n
	}
	n := &hlo.OriginNode{IsTuple: true}
	for _, e := range t.Elements {
		n.Elements = append(n.Elements, e.node())
	}
	return n
}

// key is the array where one is named in the header: it has a name there, if an empty one.
func (a *originArray) key() hlo.OriginNode {
	n := a.node()
	n.HasName = true
	return n
}

func (a *originArray) node() hlo.OriginNode {
	var n hlo.OriginNode
	if a.Name != nil {
		n.HasName, n.Name = true, string(*a.Name)
	}
	if a.Index != nil {
		n.Index = ints(a.Index.Ints)
	}
	return n
}

// recoverySyntax is the table of the header that says how to rebuild lost original values (hlo-text section 6.8).
type recoverySyntax struct {
	Entries []recoveryEntry `parser:"'{' @@* '}'"`
}

type recoveryEntry struct {
	Lost originArray `parser:"@@ ':'"`
	Kept originArray `parser:"@@"`
	Text *quoted     `parser:"(',' @String)?"`
}

var recoveryGrammar = newGrammar[*recoverySyntax]("origin_recovery_table")

// originRecovery takes the table. The modules in it are parsed too, with what nesting is left.
func (p *parser) originRecovery() []hlo.OriginRecovery {
	p.space()
	at := p.pos
	s := recoveryGrammar.parse(p, p.group(), at)
	var table []hlo.OriginRecovery
	for i := range s.Entries {
		e := &s.Entries[i]
		r := hlo.OriginRecovery{Lost: e.Lost.key(), Kept: e.Kept.key()}
		if e.Text != nil {
			r.Text = string(*e.Text)
			c := p.Config
			c.LinesBefore = 0
			if c.MaxDepth = p.MaxDepth / 2; c.MaxDepth == 0 {
				p.failAt(at, tooDeep)
			}
			m, err := c.Parse(p.file, r.Text)
			if err != nil {
				p.failHint(at, err.Error(), "malformed recovery module %d", i)
			}
			r.Module = &m
		}
		table = append(table, r)
	}
	return table
}

// debugSyntax is the debugging callbacks of the header (hlo-text section 6.9).
type debugSyntax struct {
	Entries []debugItem `parser:"'{' (@@ (',' @@)* ','?)? '}'"`
}

type debugItem struct {
	Array originArray `parser:"@@ ':'"`
	Many  []debugOne  `parser:"(  '(' (@@ (',' @@)*)? ')'"`
	One   *debugOne   `parser:" | @@ )"`
}

type debugOne struct {
	Fields []debugField `parser:"'{' (@@ (',' @@)*)? '}'"`
}

type debugField struct {
	Key  string   `parser:"@Key"`
	Word string   `parser:"(  @Ident"`
	Int  *integer `parser:" | @Int )"`
}

var debugGrammar = newGrammar[*debugSyntax]("debug_attributes")

func (p *parser) debugAttributes() []hlo.DebugAttribute {
	p.space()
	at := p.pos
	s := debugGrammar.parse(p, p.group(), at)
	r := valueReader{p, at}
	var list []hlo.DebugAttribute
	for i := range s.Entries {
		e := &s.Entries[i]
		a := hlo.DebugAttribute{Array: e.Array.key()}
		many := e.Many
		if e.One != nil {
			many = []debugOne{*e.One}
		}
		if len(many) == 0 {
			continue
		}
		if slices.ContainsFunc(list, func(o hlo.DebugAttribute) bool {
			return o.Array.Name == a.Array.Name && slices.Equal(o.Array.Index, a.Array.Index)
		}) {
			r.bad("%s has debug attributes already", a.Array.AppendText(nil))
		}
		for _, one := range many {
			a.Entries = append(a.Entries, r.debugEntry(one.Fields))
		}
		list = append(list, a)
	}
	return list
}

func (r valueReader) debugEntry(fields []debugField) hlo.DebugEntry {
	var d hlo.DebugEntry
	if len(fields) == 0 {
		r.bad("debug attributes must have at least one key")
	}
	var seen []string
	for _, f := range fields {
		if slices.Contains(seen, f.Key) {
			r.bad("attribute %s already exists", f.Key)
		}
		seen = append(seen, f.Key)
		switch {
		case f.Key == "log_mode" && f.Word == "default":
			d.LogMode = hlo.DebugLogDefault
		case f.Key == "log_mode" && f.Word == "fusion_debugger":
			d.LogMode = hlo.DebugLogFusionDebugger
		case f.Key == "log_mode":
			r.bad("Invalid debug_log_mode value: %s", f.Word)
		case f.Key == "callback_id" && f.Int != nil:
			d.CallbackID = hlo.SomeInt(int64(*f.Int))
		case f.Key == "op_id" && f.Int != nil:
			d.OpID = hlo.SomeInt(int64(*f.Int))
		case f.Key == "partitioned" && (f.Word == "true" || f.Word == "false"):
			d.Partitioned = f.Word == "true"
		case f.Key == "callback_id" || f.Key == "op_id" || f.Key == "partitioned":
			r.bad("the value of %s is of the wrong type", f.Key)
		default:
			r.bad("Unknown debug attribute: %s", f.Key)
		}
	}
	return d
}
