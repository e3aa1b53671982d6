package halocmd

import (
	"reflect"
	"strings"
)

// grammarFor is what kong is told of the command line: all commands, or, when the first argument names one, that one alone. Each costs kong
// a good part of the memory and time of a command that formats a small file.
func grammarFor(args []string) any {
	all := reflect.TypeFor[commands]()
	var fields []reflect.StructField
	named := false
	for field := range all.Fields() {
		_, isCommand := field.Tag.Lookup("cmd")
		isNamed := isCommand && len(args) > 0 && strings.ToLower(field.Name) == strings.ReplaceAll(args[0], "-", "")
		if isNamed || !isCommand {
			fields = append(fields, field)
		}
		named = named || isNamed
	}
	if named {
		all = reflect.StructOf(fields)
	}
	return reflect.New(all).Interface()
}
