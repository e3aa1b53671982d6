// Package commandline builds a command line from a struct, on cobra and pflag. A field tagged cmd is a subcommand, a struct whose fields are
// its flags and arguments; all other fields are flags of every subcommand.
//
// Tags of flags and arguments:
//
//	help         one sentence; ${name} stands for a variable of [Program.Vars]
//	name, short  the spelling; a field LargeConstants is --large-constants
//	aliases      further spellings, with commas between them
//	placeholder  the value in the help
//	default      the value when the flag is absent
//	bare         the value when the flag has none
//	enum         the values, with commas between them
//	hint         for those who give a value that is not among these
//	sep          none: a list's values are not split at commas
//	group        the heading in the help
//	negatable    a boolean has --no-NAME, too
//	required     the flag must be given
//	arg          an argument; a []string takes all that are left
//	optional     the argument may be absent
//	passthrough  flags behind the first argument are arguments, too
//	embed        a struct whose fields belong to the command
//
// Fields are strings, booleans, numbers, durations, [encoding.TextUnmarshaler]s, pointers to those, and []string.
package commandline

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gohalo/halo/internal/spelling"
)

// Program is a command line. E is the type of the value that subcommands work with.
type Program[E any] struct {
	Name, Help string
	Commands   any // pointer to the struct of subcommands and common flags
	Vars       map[string]string
	Env        E
	Out, Err   io.Writer
}

// A runner is a subcommand.
type runner[E any] interface{ Run(E) error }

// An applier is a subcommand that looks at its flags before it runs.
type applier[E any] interface{ AfterApply(E) error }

// A helper is a subcommand that says more in its help than what its flags do.
type helper interface{ Help() string }

// UsageError is a command line that cannot be understood.
type UsageError struct {
	Command string // the subcommand, or ""
	Err     error
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Run parses args and runs the subcommand that they name. Its error is a [UsageError] or what the subcommand returned.
func (p *Program[E]) Run(args []string) error {
	cobra.EnableCommandSorting = false // the order of the fields is that of the work
	root := p.root(args)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	if shells, _, err := root.Find([]string{"completion"}); err == nil && len(args) > 1 && args[0] == "completion" &&
		!strings.HasPrefix(args[1], "-") && !slices.Contains(commandNames(shells), args[1]) {
		return &UsageError{Err: fmt.Errorf("completion for %q: want %s", args[1], strings.Join(commandNames(shells), ", "))}
	}
	if len(args) > 1 && args[0] == "help" && !slices.Contains(commandNames(root), args[1]) {
		return unknownCommand(root, args[1])
	}
	root.SetArgs(args)
	return root.Execute()
}

// Flags reads args into the flags that are the fields of the struct that v points to.
func Flags(v any, args []string) error {
	g := &grammar{flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	g.fields(reflect.ValueOf(v).Elem())
	return g.flags.Parse(args)
}

// root is the command line for args. Flags are made for the subcommand that args name, or for all when they name none: they are a good
// part of the time of a command that formats a small file.
func (p *Program[E]) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use: p.Name, Short: p.Help, SilenceErrors: true, SilenceUsage: true, TraverseChildren: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(p.Out, c) })
	root.SetFlagErrorFunc(p.flagError)
	all := reflect.ValueOf(p.Commands).Elem()
	common := &grammar{flags: root.PersistentFlags(), vars: p.Vars}
	common.flags.SortFlags = false
	for i := range all.NumField() {
		if field := all.Type().Field(i); !isCommand(field) {
			common.field(field, all.Field(i))
		}
	}
	named, subcommands := named(args), subcommandsOf(all)
	exists := slices.ContainsFunc(subcommands, func(s subcommand) bool { return s.name == named })
	for _, s := range subcommands {
		root.AddCommand(p.command(s, !exists || s.name == named))
	}
	if named == cobra.ShellCompRequestCmd || named == cobra.ShellCompNoDescRequestCmd {
		completeValues(root)
	}
	return root
}

// named is the first of args that is no flag.
func named(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

func isCommand(field reflect.StructField) bool {
	_, ok := field.Tag.Lookup("cmd")
	return ok
}

// subcommand is a field that is one.
type subcommand struct {
	name, help string
	v          reflect.Value
}

func subcommandsOf(all reflect.Value) (list []subcommand) {
	for i := range all.NumField() {
		if field := all.Type().Field(i); isCommand(field) {
			tag := tagsOf(field)
			list = append(list, subcommand{spell(field, tag), tag.Get("help"), all.Field(i)})
		}
	}
	return list
}

func unknownCommand(root *cobra.Command, name string) error {
	return &UsageError{Err: fmt.Errorf("unknown command %q%s", name, meant(name, commandNames(root)))}
}

func commandNames(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// command is a subcommand, with its flags if they are wanted.
func (p *Program[E]) command(s subcommand, withFlags bool) *cobra.Command {
	c := &cobra.Command{Use: s.name, Short: s.help}
	g := &grammar{flags: c.Flags(), vars: p.Vars}
	g.flags.SortFlags = false
	value := s.v.Addr().Interface()
	if withFlags {
		g.fields(s.v)
		c.Use += g.usage()
		c.Long = c.Short
		if h, ok := value.(helper); ok {
			c.Long += "\n\n" + h.Help()
		}
		c.Annotations = map[string]string{arguments: g.argumentHelp()}
	}
	c.Args = func(_ *cobra.Command, args []string) error {
		if err := g.assign(args); err != nil {
			return &UsageError{Command: c.Name(), Err: err}
		}
		return nil
	}
	c.RunE = func(*cobra.Command, []string) error {
		if err := g.missing(); err != nil {
			return &UsageError{Command: c.Name(), Err: err}
		}
		if a, ok := value.(applier[E]); ok {
			if err := a.AfterApply(p.Env); err != nil {
				return err
			}
		}
		return value.(runner[E]).Run(p.Env)
	}
	return c
}

// flagError says in the house's words what is wrong with a flag.
func (p *Program[E]) flagError(c *cobra.Command, err error) error {
	u := &UsageError{Err: err}
	if c.HasParent() {
		u.Command = c.Name()
	}
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var valueless *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			u.Err = fmt.Errorf("unknown flag -%s", name)
			break
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		near := meant(name, names)
		u.Err = fmt.Errorf("unknown flag --%s%s", name, strings.Replace(near, `"`, `"--`, 1))
	case errors.As(err, &invalid):
		u.Err = fmt.Errorf("--%s=%s: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	case errors.As(err, &valueless):
		u.Err = fmt.Errorf("--%s: want a value: %s", valueless.GetFlag().Name, spelled(valueless.GetFlag()))
	}
	return u
}

// meant is a question about the name that was meant, or "".
func meant(name string, names []string) string {
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}
