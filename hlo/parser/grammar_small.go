package parser

import (
	"math"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// domain takes `{kind="sharding", entry=SHARDING, exit=SHARDING}`. Its shardings are read by their own grammar.
func (p *parser) domain() *hlo.Domain {
	d := new(hlo.Domain)
	kind := ""
	seen := p.subAttributes([]string{"kind", "entry", "exit"}, func(i int) {
		switch i {
		case 0:
			p.space()
			at := p.pos
			if kind = p.string(); kind != "sharding" {
				p.failAt(at, "unsupported domain kind: %s", kind)
			}
		case 1:
			d.Entry = p.sharding()
		case 2:
			d.Exit = p.sharding()
		}
	})
	for i, key := range []string{"kind", "entry", "exit"} {
		if seen&(1<<i) == 0 {
			p.fail("sub-attribute %s is expected but not seen", key)
		}
	}
	return d
}

// sparsitySyntax is the value of sparsity_config.
type sparsitySyntax struct {
	LHS *sparsitySide `parser:"'{' ('lhs':Key @@)?"`
	RHS *sparsitySide `parser:"('rhs':Key @@)? '}'"`
}

type sparsitySide struct {
	Fields []sparsityField `parser:"'{' @@* '}'"`
}

type sparsityField struct {
	Key   string `parser:"@Key"`
	Value string `parser:"@(DxD | Int)"`
}

var sparsityGrammar = newGrammar[*sparsitySyntax]("sparsity_config")

func (p *parser) sparsity() *hlo.SparsityConfig {
	p.space()
	at := p.pos
	return cached(p, sparsityGrammar, p.group(), at, func(s *sparsitySyntax, at int) *hlo.SparsityConfig {
		if s.LHS == nil && s.RHS == nil {
			return nil
		}
		r := valueReader{p, at}
		return &hlo.SparsityConfig{LHS: r.sparsity(s.LHS), RHS: r.sparsity(s.RHS)}
	})
}

func (r valueReader) sparsity(side *sparsitySide) *hlo.Sparsity {
	if side == nil {
		return nil
	}
	s := new(hlo.Sparsity)
	for _, f := range side.Fields {
		v := r.joined(f.Value, 'x')
		switch {
		case f.Key == "sparsity" && len(v) == 2:
			s.NonZeros, s.Block = v[0], v[1]
		case f.Key == "dimension" && len(v) == 1:
			s.Dimension = v[0]
		case f.Key == "stride" && len(v) == 1:
			s.Stride = v[0]
		case f.Key == "idx" && len(v) == 1:
			s.Index = hlo.SomeInt(v[0])
		default:
			r.bad("unexpected attribute name: %s", f.Key)
		}
	}
	if s.Block == 0 {
		r.bad("sub-attribute sparsity is expected but not seen")
	}
	return s
}

// statisticsSyntax is the value of statistics: an index first, then named numbers.
type statisticsSyntax struct {
	Index   *integer         `parser:"'{' ( 'visualizing_index':Key @Int"`
	Entries []statisticsItem `parser:"(',' @@)* )? '}'"`
}

type statisticsItem struct {
	Name  string `parser:"@Key"`
	Value string `parser:"@(Decimal | Int | 'inf' | 'nan')"`
}

var statisticsGrammar = newGrammar[*statisticsSyntax]("statistics")

func (p *parser) statistics() *hlo.Statistics {
	p.space()
	at := p.pos
	return cached(p, statisticsGrammar, p.group(), at, func(s *statisticsSyntax, at int) *hlo.Statistics {
		st := new(hlo.Statistics)
		if s.Index != nil {
			st.VisualizingIndex = int64(*s.Index)
		}
		for _, e := range s.Entries {
			v, err := strconv.ParseFloat(e.Value, 64)
			if err != nil {
				p.failAt(at, "Constant is out of range for double: %s", e.Value)
			}
			st.Entries = append(st.Entries, hlo.Statistic{Name: e.Name, Value: v})
		}
		return st
	})
}

// accuracySyntax is the value of result_accuracy.
type accuracySyntax struct {
	Mode      string         `parser:"'{' (  'mode':Key @Ident"`
	Tolerance *accuracyItems `parser:"     | 'tolerance':Key @@ ) '}'"`
}

type accuracyItems struct {
	Items []accuracyItem `parser:"'{' (@@ (',' @@)*)? '}'"`
}

type accuracyItem struct {
	Key   string `parser:"@('rtol':Key | 'atol':Key | 'ulps':Key)"`
	Value string `parser:"@(Decimal | Int)"`
}

var accuracyGrammar = newGrammar[*accuracySyntax]("result_accuracy")

// resultAccuracy takes the value; the default mode is nil.
func (p *parser) resultAccuracy() *hlo.ResultAccuracy {
	p.space()
	at := p.pos
	return cached(p, accuracyGrammar, p.group(), at, func(s *accuracySyntax, at int) *hlo.ResultAccuracy {
		r := valueReader{p, at}
		if s.Tolerance == nil {
			switch strings.ToLower(s.Mode) {
			case "default":
				return nil
			case "highest":
				return &hlo.ResultAccuracy{Highest: true}
			}
			r.bad("expects ResultAccuracy type but sees: %s, error: one of default, highest", s.Mode)
		}
		a := new(hlo.ResultAccuracy)
		for _, it := range s.Tolerance.Items {
			v, err := strconv.ParseFloat(it.Value, 64)
			if err != nil || v < 0 || math.IsInf(v, 0) {
				r.bad("a tolerance must not be negative: %s=%s", it.Key, it.Value)
			}
			switch it.Key {
			case "rtol":
				a.RTol = v
			case "atol":
				a.ATol = v
			case "ulps":
				n, _, msg := scanInt(it.Value, 0)
				if msg != "" || skipDecimal(it.Value, 0) > 0 {
					r.bad("ulps must be an integer, saw %s", it.Value)
				}
				a.ULPs = n
			}
		}
		return a
	})
}
