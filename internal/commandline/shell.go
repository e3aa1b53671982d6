package commandline

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completeValues registers the values of flags for completion.
func completeValues(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if v, ok := f.Value.(*value); ok && v.enum != nil {
				// The only error is that of a flag that has a function already.
				_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.enum, cobra.ShellCompDirectiveNoFileComp))
			}
		})
	}
}

// Manual writes the page of the program for man, with every subcommand and flag.
func (p *Program[E]) Manual(w io.Writer, version string) error {
	root := p.root(nil)
	m := &manual{w: w}
	m.line(".TH %s 1 \"\" %s", strings.ToUpper(p.Name), quoted(version))
	m.line(".SH NAME")
	m.line("%s \\- %s", p.Name, escaped(p.Help))
	m.line(".SH SYNOPSIS")
	m.line(".B %s", p.Name)
	m.line("COMMAND [FLAG]... [ARGUMENT]...")
	m.line(".SH COMMANDS")
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		m.line(".SS %s %s", p.Name, escaped(c.Use))
		m.paragraphs(describe(c))
		m.flags(c.LocalNonPersistentFlags())
	}
	m.line(".SH COMMON FLAGS")
	m.flags(root.PersistentFlags())
	return m.err
}

// manual writes the language of man.
type manual struct {
	w   io.Writer
	err error
}

func (m *manual) line(format string, args ...any) {
	if _, err := fmt.Fprintf(m.w, format+"\n", args...); err != nil && m.err == nil {
		m.err = err
	}
}

// paragraphs writes text; what is indented is kept as it is.
func (m *manual) paragraphs(text string) {
	verbatim := false
	for line := range strings.SplitSeq(text, "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != verbatim {
			verbatim = indented
			m.line("%s", map[bool]string{true: ".nf", false: ".fi"}[indented])
		}
		if line == "" {
			m.line(".PP")
		} else {
			m.line("%s", escaped(line))
		}
	}
	if verbatim {
		m.line(".fi")
	}
}

func (m *manual) flags(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		m.line(".TP")
		m.line(".B %s", escaped(spelled(f)))
		m.line("%s", escaped(f.Usage))
	})
}

// escaped is text in which nothing is a command of man.
func escaped(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, "") + `"` }
