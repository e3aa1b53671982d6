package pass

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/internal/spelling"
)

const wordChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+*"

// The grammar of pipeline text.
type (
	textPipeline struct {
		Elements []*textElement `parser:"( @@ ( ',' @@ )* )?"`
	}
	textElement struct {
		Pos     lexer.Position
		Name    string        `parser:"( @Word"`
		Options []*textOption `parser:"  ( '{' ( @@ ','? )* '}' )?"`
		Body    *textPipeline `parser:"  ( '(' @@ ')' )?"`
		Group   *textPipeline `parser:"| '(' @@ ')' )"`
	}
	textOption struct {
		Key   string    `parser:"@Word"`
		Value string    `parser:"( '=' ( @Word | @String"`
		List  *textList `parser:"| @@ ) )?"`
	}
	textList struct {
		Items []*textItem `parser:"'[' ( @@ ( ',' @@ )* )? ']'"`
	}
	textItem struct {
		Word string    `parser:"@Word"`
		List *textList `parser:"| @@"`
	}
)

var textParser = sync.OnceValue(func() *participle.Parser[textPipeline] {
	return participle.MustBuild[textPipeline](
		participle.Lexer(lexer.MustSimple([]lexer.SimpleRule{
			{Name: "Word", Pattern: `[A-Za-z0-9_.*+-]+`},
			{Name: "String", Pattern: `"(\\.|[^"\\])*"`},
			{Name: "Punct", Pattern: `[{}()\[\],=]`},
			{Name: "Space", Pattern: `\s+`},
		})),
		participle.Elide("Space"), participle.Unquote("String"), participle.UseLookahead(2),
	)
})

func (e *textElement) options() (all Options) {
	for _, o := range e.Options {
		opt := Option{Key: strings.ReplaceAll(o.Key, "_", "-"), Value: o.Value}
		if o.List != nil {
			opt.List = o.List.items()
		}
		all = append(all, opt)
	}
	return all
}

func (l *textList) items() List {
	items := List{}
	for _, i := range l.Items {
		if i.List != nil {
			items = append(items, "["+strings.Join(i.List.items(), ",")+"]")
		} else {
			items = append(items, i.Word)
		}
	}
	return items
}

// Catalogue finds passes and pipelines by name.
type Catalogue interface {
	// Pass makes the named pass; nil and no error when there is none.
	Pass(name string, o Options) (*Pass, error)
	// Pipeline returns the named pipeline, nil when there is none.
	Pipeline(name string) *Pipeline
	// Names lists everything, for hints.
	Names() []string
}

// knower is a catalogue that also knows names of passes that do not exist here.
type knower interface {
	// Known reports whether there is such a pass elsewhere, and the one here that is nearest to it.
	Known(name string) (nearest string, ok bool)
}

// TextError is a mistake in pipeline text.
type TextError struct {
	Text   string
	Column int // from 1
	Msg    string
}

func (e *TextError) Error() string {
	return fmt.Sprintf("pipeline:1:%d: error: %s\n  %s\n  %s^", e.Column, e.Msg, e.Text, strings.Repeat(" ", e.Column-1))
}

// Parse reads pipeline text: names separated by commas, options in braces, and groups in parentheses.
//
//	fix{limit=5}(algsimp,dce)           until nothing changes
//	if(loops,while-loop-simplifier)     if the module is of a kind, or not-loops
//	threads{only=main}(cse)             on the computations of a thread
//	simplify{fp=xla}                    a named pipeline under another policy
func Parse(text string, c Catalogue) (*Pipeline, error) {
	t, err := parsed(text)
	if err != nil {
		return nil, err
	}
	return t.build(text, c)
}

// texts are the trees of texts that were parsed before: those of named pipelines, above all.
var texts sync.Map

const maxTexts = 64 // and no more: texts may come from anywhere

var numTexts atomic.Int32

// plainWords are for what participle calls by the names of types.
var plainWords = strings.NewReplacer(`token "<EOF>"`, "end", "expected TextElement", "expected a pass", "expected TextOption", "expected an option")

func parsed(text string) (*textPipeline, error) {
	if t, ok := texts.Load(text); ok {
		return t.(*textPipeline), nil
	}
	t, ok := readText(text)
	if !ok {
		var err error
		if t, err = textParser().ParseString("", text); err != nil {
			col, msg := 1, err.Error()
			if pe, ok := err.(participle.Error); ok {
				col, msg = pe.Position().Column, plainWords.Replace(pe.Message())
			}
			if errors.As(err, new(*lexer.Error)) && col <= len(text) {
				msg = fmt.Sprintf("unexpected character %q", text[col-1:col])
			}
			return nil, &TextError{text, max(col, 1), msg}
		}
	}
	if numTexts.Add(1) <= maxTexts {
		texts.Store(text, t)
	}
	return t, nil
}

func (t *textPipeline) build(text string, c Catalogue) (*Pipeline, error) {
	p := &Pipeline{}
	for _, e := range t.Elements {
		s, err := e.build(text, c)
		if err != nil {
			return nil, err
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

func (e *textElement) build(text string, c Catalogue) (Step, error) {
	fail := func(format string, args ...any) (Step, error) {
		return Step{}, &TextError{text, e.Pos.Column, fmt.Sprintf(format, args...)}
	}
	if read, ok := combinators[e.Name]; ok {
		if e.Body == nil {
			return fail("%s needs passes in parentheses", e.Name)
		}
		p := &Pipeline{}
		body, err := read(e, p)
		if err != nil {
			return fail("%s: %v", e.Name, err)
		}
		inside, err := body.build(text, c)
		if err != nil {
			return Step{}, err
		}
		p.Steps = inside.Steps
		if err := p.holdable(); err != nil {
			return fail("%s: %v", e.Name, err)
		}
		return Step{Pipeline: p}, nil
	}
	if e.Body != nil {
		return fail("only fix, if and threads take passes in parentheses, not %s", e.Name)
	}
	if e.Group != nil {
		p, err := e.Group.build(text, c)
		return Step{Pipeline: p}, err
	}
	name := strings.ReplaceAll(e.Name, "_", "-")
	options := e.options()
	for i, o := range options {
		options[i].Key = strings.ReplaceAll(o.Key, "_", "-")
	}
	ps, err := c.Pass(name, options)
	switch {
	case err != nil:
		return fail("%s: %v", e.Name, err)
	case ps != nil:
		return Step{Pass: ps}, nil
	}
	if p := c.Pipeline(e.Name); p != nil {
		if err := p.setOptions(e.options()); err != nil {
			return fail("%s: %v", e.Name, err)
		}
		return Step{Pipeline: p}, nil
	}
	if k, ok := c.(knower); ok {
		if near, ok := k.Known(name); ok {
			if near == "" {
				return fail("%s is known, but not implemented, and nothing is near to it", e.Name)
			}
			return fail("%s is known, but not implemented; nearest: %s", e.Name, near)
		}
	}
	return fail("there is no pass %q; %s", e.Name, meant(e.Name, c.Names()))
}

// meant says which of the names may be meant by one that is none of them. Of levels, names that differ in the number at their end alone, none is
// nearer than the others: it says all.
func meant(name string, names []string) string {
	const digits = "0123456789"
	var levels []string
	for _, n := range names {
		if stem := strings.TrimRight(n, digits); stem != n && strings.EqualFold(stem, strings.TrimRight(name, digits)) {
			levels = append(levels, n)
		}
	}
	slices.Sort(levels)
	if last := len(levels) - 1; last > 0 {
		return "want " + strings.Join(levels[:last], ", ") + " or " + levels[last]
	}
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "halo opt --list-passes shows all"
}

// String is the steps of the pipeline as text, named pipelines by their names; Parse reads it back with a catalogue that has them.
func (p *Pipeline) String() string {
	var parts []string
	for _, s := range p.Steps {
		switch {
		case s.Pass != nil:
			parts = append(parts, s.Pass.Name+s.Pass.Options.String())
		case s.Pipeline.Name != "":
			parts = append(parts, s.Pipeline.Name+s.Pipeline.Options.String())
		case s.Pipeline.If != "":
			parts = append(parts, "if("+strings.TrimSuffix(s.Pipeline.If+","+s.Pipeline.String(), ",")+")")
		case s.Pipeline.Threads != nil:
			only := Option{Key: "only", List: s.Pipeline.Threads}
			if len(only.List) == 1 {
				only = Option{Key: "only", Value: only.List[0]}
			}
			parts = append(parts, "threads"+Options{only}.String()+"("+s.Pipeline.String()+")")
		case s.Pipeline.Fix:
			limit := ""
			if s.Pipeline.Limit > 0 {
				limit = fmt.Sprintf("{limit=%d}", s.Pipeline.Limit)
			}
			parts = append(parts, "fix"+limit+"("+s.Pipeline.String()+")")
		default:
			parts = append(parts, "("+s.Pipeline.String()+")")
		}
	}
	return strings.Join(parts, ",")
}
