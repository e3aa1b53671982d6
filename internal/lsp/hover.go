package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/verifier"
)

// hoverAt is what is known of the name or word at an offset, in Markdown; "" if nothing.
func (d *document) hoverAt(offset int, rates analysis.Rates) (string, span) {
	if o, ok := d.nameAt(offset); ok {
		s := d.names().symbols[o.symbol]
		if text := d.aboutInstruction(s, rates); text != "" {
			return text, o.span
		}
		uses := len(d.names().of(o.symbol)) - 1
		return fmt.Sprintf("**%s** %s\n\n%s", s.name, s.detail, plural(uses, "use")), o.span
	}
	at := d.wordAround(offset)
	return d.aboutWord(at.in(d.text)), at
}

// aboutInstruction is what the module says of an instruction or computation.
func (d *document) aboutInstruction(s symbol, rates analysis.Rates) string {
	m := d.shared.lastGood()
	if m.IsZero() || d.language.name != nameHLO {
		return ""
	}
	costs := analysis.FindCosts(m)
	if s.within < 0 {
		c, ok := m.ComputationByName(s.name)
		if !ok {
			return ""
		}
		callers := 0
		for range m.Callers(c.ID()) {
			callers++
		}
		return fmt.Sprintf("**%%%s** computation, %s\n\n%s; called from %s\n\n%s", s.name, plural(c.NumInstructions(), "instruction"), cost(costs.OfComputation(c.ID()), rates),
			plural(callers, "place"), fenced(s.detail))
	}
	c, ok := m.ComputationByName(d.names().symbols[s.within].name)
	if !ok {
		return ""
	}
	in, ok := c.ByName(s.name)
	if !ok {
		return ""
	}
	var b strings.Builder
	info := hlo.Info(in.Opcode())
	fmt.Fprintf(&b, "**%s** %s\n\n%s", in.Opcode(), info.Doc, fenced(in.Shape().String()))
	if k := costs.Of(in); !k.IsZero() {
		fmt.Fprintf(&b, "\n%s\n", cost(k, rates))
	}
	users := slices.Collect(in.Users())
	var names []string
	for _, u := range users[:min(len(users), 6)] {
		names = append(names, "`%"+u.Name()+"`")
	}
	if len(users) > len(names) {
		names = append(names, "…")
	}
	fmt.Fprintf(&b, "\n%s%s\n", plural(len(users), "user"), strings.TrimSuffix(": "+strings.Join(names, ", "), ": "))
	from := origin.NewFinder(m, hlo.Module{}).Of(in)
	if from.OpName != "" {
		fmt.Fprintf(&b, "\n`%s`\n", from.OpName)
	}
	if from.Source != "" {
		fmt.Fprintf(&b, "\n%s\n", from.Source)
	}
	return b.String()
}

// aboutWord explains an op, a rule of the verifier, or a condition of rules.
func (d *document) aboutWord(word string) string {
	if word == "" {
		return ""
	}
	if d.language.name == nameRules {
		for _, c := range rules.Conditions {
			if c.Name == word {
				return fmt.Sprintf("**%s(%s)**: %s", c.Name, c.Args, c.Doc)
			}
		}
	}
	name := strings.ReplaceAll(strings.TrimPrefix(word, "stablehlo."), "_", "-")
	if d.language.name == nameHLO {
		name = word
	}
	if op, wrapped, err := hlo.ParseMnemonic(name); err == nil {
		info := hlo.Info(op)
		text := fmt.Sprintf("**%s** %s\n\nOperands: %v", info.Name, info.Doc, info.Arity)
		if wrapped != hlo.OpInvalid {
			text += fmt.Sprintf("\n\nof **%s**: %s", wrapped, hlo.Info(wrapped).Doc)
		}
		return text
	}
	if text, ok := verifier.Explain(word); ok {
		return fenced(text)
	}
	return ""
}

// wordAround is the word that an offset is in.
func (d *document) wordAround(offset int) span {
	from := min(max(offset, 0), len(d.text))
	for from > 0 && (isLetter(d.text[from-1]) || d.text[from-1] == '-') {
		from--
	}
	at := d.wordAt(from)
	if at.to < offset {
		return span{offset, offset}
	}
	return at
}

func cost(k analysis.Cost, rates analysis.Rates) string {
	bound := ""
	if k.Unknown {
		bound = ", at least"
	}
	return fmt.Sprintf("about %.3g ms: %.3g flops, %.3g bytes moved%s", k.Seconds(rates)*1e3, float64(k.Flops+k.Transcendentals), float64(k.Bytes), bound)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func fenced(text string) string { return "```\n" + strings.TrimRight(text, "\n") + "\n```\n" }
