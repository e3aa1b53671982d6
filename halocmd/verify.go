package halocmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/verifier"
)

// verifyCmd reports every finding of the verifier.
type verifyCmd struct {
	Files   []string `arg:"" optional:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`
	Profile string   `help:"doc: halo's documented rules; xla: XLA's rules." default:"doc" enum:"doc,xla"`
	Explain string   `help:"Explain a rule, with a program that breaks it and one that does not." placeholder:"RULE"`
	Option  []string `help:"An option of the verifier, name or name=value; each is also a flag of its own, see --list-options." placeholder:"NAME=VALUE" sep:"none"`
	List    bool     `name:"list-options" help:"List the options."`
	JSON    bool     `name:"json" help:"One JSON object for each file."`

	readFlags `embed:""`
}

// Help is what --help says beyond the flags.
func (verifyCmd) Help() string {
	return `Reports each finding with its place in the file, its rule, and a hint.

  halo verify model.hlo
  halo verify --profile=xla --json dump/
  halo verify --explain=ASYNC-25

The exit status is 1 if there are findings.`
}

// expandOptions turns the verifier's own options, --mixed-precision or --name=value or --name value, into values of --option.
func expandOptions(args []string) []string {
	if len(args) == 0 || args[0] != "verify" {
		return args
	}
	options := verifier.Options()
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		name, isFlag := strings.CutPrefix(args[i], "--")
		key, _, hasValue := strings.Cut(name, "=")
		k := slices.IndexFunc(options, func(o verifier.Option) bool { return o.Name == key })
		switch {
		case !isFlag || k < 0:
			out = append(out, args[i])
			continue
		case !hasValue && !options[k].Bool && i+1 < len(args):
			i++
			name += "=" + args[i]
		}
		out = append(out, "--option="+name)
	}
	return out
}

func (c *verifyCmd) config() (verifier.Config, error) {
	cfg := verifierConfig(verifier.Config{})
	var err error
	if cfg.Profile, err = verifier.ParseProfile(c.Profile); err != nil {
		return cfg, err
	}
	options := verifier.Options()
	for _, o := range c.Option {
		name, value, _ := strings.Cut(o, "=")
		i := slices.IndexFunc(options, func(x verifier.Option) bool { return x.Name == name })
		if i < 0 {
			return cfg, fmt.Errorf("there is no option %q; --list-options lists them", name)
		}
		if err := options[i].Set(&cfg, value); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func (c *verifyCmd) Run(e *env) error {
	switch {
	case c.List:
		for _, o := range verifier.Options() {
			fmt.Fprintf(e.stdout, "--%-44s %s (default %s)\n", o.Name, o.Doc, o.Default)
		}
		return nil
	case c.Explain != "":
		text, ok := explain(c.Explain)
		if !ok {
			return usageError{fmt.Errorf("there is no rule %q%s", c.Explain, ruleMeant(c.Explain))}
		}
		fmt.Fprint(e.stdout, text)
		return nil
	case len(c.Files) == 0:
		return missingFile("verify")
	}
	cfg, err := c.config()
	if err != nil {
		return usageError{err}
	}
	e.manyModules = true
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind == source.HostProgram {
			return verifyHost(in)
		}
		return c.verify(e, in, r, cfg)
	})
}

// finding is a finding of the verifier as JSON has it.
type finding struct {
	Rule        string `json:"rule"`
	Severity    string `json:"severity"`
	Computation string `json:"computation,omitempty"`
	Instruction string `json:"instruction,omitempty"`
	Line        uint32 `json:"line,omitempty"`
	Col         uint32 `json:"col,omitempty"`
	Message     string `json:"message"`
	Hint        string `json:"hint,omitempty"`
	Chain       []link `json:"chain,omitempty"`
}

// link is a step that an asynchronous value passes.
type link struct {
	Opcode      string `json:"opcode"`
	Computation string `json:"computation"`
	Instruction string `json:"instruction"`
	Line        uint32 `json:"line,omitempty"`
}

func findingOf(f *verifier.Error) finding {
	out := finding{f.Rule, f.Severity.String(), f.Computation, f.Instruction, f.Pos.Line, f.Pos.Col, f.Msg, f.Hint, nil}
	for _, l := range f.Chain {
		if l.Instruction != "" { // not all of a long chain are there
			out.Chain = append(out.Chain, link{l.Opcode.String(), l.Computation, l.Instruction, l.Pos.Line})
		}
	}
	return out
}

// verify checks every module of a file.
func (c *verifyCmd) verify(e *env, in *input, r *record, cfg verifier.Config) error {
	all := []finding{}
	r.add("findings", all)
	parts := []parser.Part{{}}
	if in.kind == source.HLOText {
		parts = source.Parts(in.kind, in.data)
	}
	var failed several
	for _, part := range parts {
		part.LinesBefore += in.linesBefore
		m, err := parseStrict(in, part, cfg.Profile == verifier.XLA, func(w *parser.Error) {
			if w.Rule != "" {
				all = append(all, finding{Rule: w.Rule, Severity: verifier.SeverityWarning.String(), Line: uint32(w.Line), Col: uint32(w.Col), Message: w.Msg})
			}
			if !c.JSON {
				fmt.Fprintln(e.stderr, withRule(w))
			}
		})
		if err != nil {
			failed = append(failed, withRules(err))
			all = append(all, refusals(err)...)
			continue
		}
		list := verifier.Verify(m, cfg)
		for _, f := range list {
			if !f.Pos.IsKnown() && in.kind == source.HLOText {
				f.Pos = headerPosition(f.Rule, part)
			}
			all = append(all, findingOf(f))
			if !c.JSON && f.Severity == verifier.SeverityWarning {
				fmt.Fprintln(e.stderr, describeFinding(f, in))
			}
		}
		if err := list.Err(); err != nil {
			failed = append(failed, err)
		}
	}
	r.add("findings", all)
	if len(failed) == 0 {
		return nil
	}
	return failed
}

// headerAttributes are the attributes of the header that rules about modules are about, by the groups of the rules.
var headerAttributes = map[string]string{
	"ALI": "input_output_alias", "DON": "buffer_donor", "ENT": "entry_computation_layout", "ENT-05": "input_output_alias", "SCH": "is_scheduled",
}

// headerPosition is where in the header of a module that is what a rule is about.
func headerPosition(rule string, part parser.Part) hlo.Position {
	text := part.Text
	at := strings.Index(text, "HloModule")
	if at < 0 {
		return hlo.Position{}
	}
	group, _, _ := strings.Cut(rule, "-")
	if name := cmp.Or(headerAttributes[rule], headerAttributes[group]); name != "" {
		header, _, _ := strings.Cut(text[at:], "\n\n")
		at += max(strings.Index(header, name), 0)
	}
	line := 1 + part.LinesBefore + strings.Count(text[:at], "\n")
	return hlo.Position{Line: uint32(line), Col: uint32(at - strings.LastIndexByte(text[:at], '\n'))}
}

// withRule is a fault of the text with the rule that it breaks at the end of its message, as findings have it.
func withRule(e *parser.Error) *parser.Error {
	if e.Rule == "" {
		return e
	}
	marked := *e
	marked.Msg += " [" + e.Rule + "]"
	return &marked
}

func withRules(err error) error {
	list, ok := err.(parser.ErrorList)
	if !ok {
		return err
	}
	marked := make(parser.ErrorList, len(list))
	for i, e := range list {
		marked[i] = withRule(e)
	}
	return marked
}

// parseStrict is parseModule, of one part of a text, with the reader's warnings; strict refuses older text that XLA refuses.
func parseStrict(in *input, part parser.Part, strict bool, warn func(*parser.Error)) (hlo.Module, error) {
	if in.kind == source.HLOText {
		return parser.Config{Strict: strict, KeepZeroSigns: true, Lenient: in.lenient, Warn: warn, LinesBefore: part.LinesBefore}.Parse(in.name, part.Text)
	}
	return parseModule(in)
}

// refusals are the faults of a text or serialized module that break a rule of the verifier.
func refusals(err error) []finding {
	var list parser.ErrorList
	var all []finding
	if errors.As(err, &list) {
		for _, f := range list {
			if f.Rule != "" {
				all = append(all, finding{Rule: f.Rule, Severity: verifier.SeverityError.String(), Line: uint32(f.Line), Col: uint32(f.Col), Message: f.Msg})
			}
		}
	}
	var form *proto.FormatError
	if errors.As(err, &form) && form.Rule != "" {
		all = append(all, finding{Rule: form.Rule, Severity: verifier.SeverityError.String(), Message: form.Error()})
	}
	return all
}
