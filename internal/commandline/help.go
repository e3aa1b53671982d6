package commandline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The help is laid out for a terminal of this width, flags and arguments in a column of their own.
const (
	helpWidth  = 80
	helpColumn = 34
)

// writeHelp writes the help of a command.
func writeHelp(w io.Writer, c *cobra.Command) {
	usage := c.Use
	if c.HasParent() {
		usage = c.Parent().Name() + " " + usage
	} else {
		usage += " <command>"
	}
	fmt.Fprintf(w, "Usage: %s [flags]\n\n%s\n", usage, describe(c))
	if args := c.Annotations[arguments]; args != "" {
		fmt.Fprint(w, "\nArguments:\n")
		for line := range strings.SplitSeq(args, "\n") {
			spelling, help, _ := strings.Cut(line, "\t")
			entry(w, "  "+spelling, help)
		}
	}
	if subcommands := c.Commands(); len(subcommands) > 0 {
		fmt.Fprint(w, "\nCommands:\n")
		for _, sub := range subcommands {
			if sub.IsAvailableCommand() {
				row(w, "  "+sub.Name(), sub.Short, 16)
			}
		}
	}
	for _, g := range groups(c) {
		fmt.Fprintf(w, "\n%s:\n", g.title)
		for _, f := range g.flags {
			short := "      "
			if f.Shorthand != "" {
				short = "  -" + f.Shorthand + ", "
			}
			help := f.Usage
			if f.DefValue != "" && f.DefValue != "-1" && f.DefValue != "false" && !strings.Contains(help, "efault") {
				help += fmt.Sprintf(" Default: %s.", f.DefValue)
			}
			entry(w, short+spelled(f), help)
		}
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nRun \"%s <command> --help\" for more information on a command.\n", c.Name())
	}
}

// describe is the text of the help above the flags: indented lines, which are examples, as they are, and the paragraphs between them broken anew.
func describe(c *cobra.Command) string {
	var lines, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			lines = append(lines, wrap(strings.Join(paragraph, " "), helpWidth)...)
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(strings.TrimRight(cmp.Or(c.Long, c.Short), "\n"), "\n") {
		if line != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		lines = append(lines, line)
	}
	flush()
	return strings.Join(lines, "\n")
}

// flagGroup is flags under one heading.
type flagGroup struct {
	title string
	flags []*pflag.Flag
}

// groups are the flags of a command as the help shows them: those without a heading, those with one in the order of their fields, and those
// of all commands.
func groups(c *cobra.Command) (out []*flagGroup) {
	add := func(title string, f *pflag.Flag) {
		i := slices.IndexFunc(out, func(g *flagGroup) bool { return g.title == title })
		if i < 0 {
			i = len(out)
			out = append(out, &flagGroup{title: title})
		}
		out[i].flags = append(out[i].flags, f)
	}
	common := c.Root().PersistentFlags()
	if c.HasParent() {
		out = []*flagGroup{{title: "Flags"}} // before those with a heading, whatever the order of the fields
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && common.Lookup(f.Name) == nil && f.Name != "help" {
				add(cmp.Or(strings.Join(f.Annotations[group], ""), "Flags"), f)
			}
		})
		out = slices.DeleteFunc(out, func(g *flagGroup) bool { return len(g.flags) == 0 })
	}
	common.VisitAll(func(f *pflag.Flag) { add("Flags of all commands", f) })
	help := *c.Flags().Lookup("help")
	help.Usage = "Show this help."
	add("Flags of all commands", &help)
	return out
}

// spelled is a flag as the help shows it: --[no-]name or --name=VALUE.
func spelled(f *pflag.Flag) string {
	if _, ok := f.Annotations[negatable]; ok {
		return "--[no-]" + f.Name
	}
	if kind := f.Value.Type(); kind != "bool" {
		if f.NoOptDefVal != "" {
			return "--" + f.Name + "[=" + kind + "]"
		}
		return "--" + f.Name + "=" + kind
	}
	return "--" + f.Name
}

// entry writes a flag or an argument and its help.
func entry(w io.Writer, spelling, help string) { row(w, spelling, help, helpColumn) }

// row writes two columns, the second of which is broken into lines.
func row(w io.Writer, left, right string, column int) {
	lines := wrap(right, helpWidth-column)
	if len(left) > column-2 {
		fmt.Fprintln(w, left)
		left = ""
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%-*s%s\n", column, left, line)
		left = ""
	}
}

// wrap breaks a text into lines of a width.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
