package commandline

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// grammar is the flags and arguments of a command.
type grammar struct {
	flags    *pflag.FlagSet
	vars     map[string]string
	args     []argument
	required []*pflag.Flag
}

// argument is an argument by position.
type argument struct {
	name, help string
	optional   bool
	v          reflect.Value // a string or a []string
}

// The annotations of flags and commands that the help reads.
const (
	group     = "group"
	negatable = "negatable"
	arguments = "arguments"
)

// fields adds the fields of a struct.
func (g *grammar) fields(v reflect.Value) {
	for i := range v.NumField() {
		g.field(v.Type().Field(i), v.Field(i))
	}
}

// field adds a field: a flag, an argument, or a struct of them.
func (g *grammar) field(field reflect.StructField, v reflect.Value) {
	tag := tagsOf(field)
	if _, ok := tag.Lookup("embed"); ok {
		g.fields(v)
		return
	}
	if field.Anonymous {
		panic(field.Name + " is embedded without the tag embed: its flags would be unknown") // the struct is at fault
	}
	if !field.IsExported() {
		return
	}
	help := os.Expand(tag.Get("help"), func(name string) string { return g.vars[name] })
	if _, ok := tag.Lookup("arg"); ok {
		_, optional := tag.Lookup("optional")
		if _, ok := tag.Lookup("passthrough"); ok { // flags behind the first argument are somebody else's
			g.flags.SetInterspersed(false)
		}
		g.args = append(g.args, argument{spell(field, tag), help, optional, v})
		return
	}
	value := newValue(v, tag)
	if text, ok := tag.Lookup("default"); ok && text != "" {
		if err := value.Set(text); err != nil {
			panic(fmt.Sprintf("default of %s: %v", field.Name, err)) // the struct is at fault
		}
		value.given = false
	}
	f := &pflag.Flag{Name: spell(field, tag), Shorthand: tag.Get("short"), Usage: help, Value: value, DefValue: tag.Get("default"),
		NoOptDefVal: value.bare(), Annotations: map[string][]string{group: {tag.Get("group")}}}
	g.flags.AddFlag(f)
	if _, ok := tag.Lookup("required"); ok {
		g.required = append(g.required, f)
	}
	if _, ok := tag.Lookup("negatable"); ok {
		f.Annotations[negatable] = nil
		g.hidden("no-"+f.Name, negated{value})
	}
	if aliases := tag.Get("aliases"); aliases != "" {
		for name := range strings.SplitSeq(aliases, ",") {
			g.hidden(name, value)
		}
	}
}

// hidden adds a flag that the help leaves out.
func (g *grammar) hidden(name string, v pflag.Value) {
	bare := ""
	if v.Type() == "bool" {
		bare = "true"
	}
	g.flags.AddFlag(&pflag.Flag{Name: name, Value: v, Hidden: true, NoOptDefVal: bare})
}

// spell is the name of a field on the command line: its tag name, or LargeConstants as large-constants.
func spell(field reflect.StructField, tag tags) string {
	if name := tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	for i, r := range field.Name {
		if unicode.IsUpper(r) && i > 0 && unicode.IsLower(rune(field.Name[i-1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// usage is what follows the name of the command in the first line of its help.
func (g *grammar) usage() string {
	text := ""
	for _, a := range g.args {
		text += " " + a.spelling()
	}
	return text
}

func (a argument) spelling() string {
	text := "<" + a.name + ">"
	if a.v.Kind() == reflect.Slice {
		text += " ..."
	}
	if a.optional {
		text = "[" + text + "]"
	}
	return text
}

// argumentHelp has a line for each argument: its spelling, a tab, and its help.
func (g *grammar) argumentHelp() string {
	var lines []string
	for _, a := range g.args {
		lines = append(lines, a.spelling()+"\t"+a.help)
	}
	return strings.Join(lines, "\n")
}

// assign gives the arguments their values.
func (g *grammar) assign(values []string) error {
	for _, a := range g.args {
		if len(values) == 0 {
			if !a.optional {
				return fmt.Errorf("missing argument %s", strings.Trim(a.spelling(), "[]"))
			}
			return nil
		}
		if a.v.Kind() == reflect.Slice {
			a.v.Set(reflect.ValueOf(values))
			return nil
		}
		a.v.SetString(values[0])
		values = values[1:]
	}
	if len(values) > 0 {
		return fmt.Errorf("unexpected argument %s", values[0])
	}
	return nil
}

// missing reports a required flag that is absent.
func (g *grammar) missing() error {
	for _, f := range g.required {
		if !f.Value.(*value).given {
			return fmt.Errorf("missing flag %s", spelled(f))
		}
	}
	return nil
}
