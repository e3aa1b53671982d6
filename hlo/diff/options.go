package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// CompareOptions adds to the reasons the options of compiling that differ, given the debug_options files that XLA dumps beside a module. Options that only say where
// and how XLA dumps do not count. Options have no part in whether the programs are equal.
func (r *Report) CompareOptions(a, b string) {
	x, y := options(a), options(b)
	names := maps.Clone(x)
	maps.Copy(names, y)
	differ := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x[name] == y[name] || strings.HasPrefix(name, "xla_dump_") {
			continue
		}
		if differ++; differ <= mostReasons {
			r.Why = append(r.Why, Reason{"options", fmt.Sprintf("%s is %s in A and %s in B", name, orDefault(x[name]), orDefault(y[name]))})
		}
	}
	if differ > mostReasons {
		r.Why = append(r.Why, Reason{"options", fmt.Sprintf("%d more options differ", differ-mostReasons)})
	}
}

// options reads the fields of a message in the text form of protocol buffers: their names, and all that each is set to.
func options(text string) map[string]string {
	fields := map[string]string{}
	outer, depth := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case line == "":
			continue
		case depth == 0 && strings.HasSuffix(line, "{"):
			outer, depth = strings.TrimSpace(strings.TrimRight(line, ": {")), 1
			continue
		case depth > 0:
			name, value = outer, line
			depth += strings.Count(line, "{") - strings.Count(line, "}")
			if depth == 0 {
				continue
			}
		}
		fields[name] = strings.TrimPrefix(fields[name]+" "+value, " ")
	}
	return fields
}

func orDefault(value string) string {
	if value == "" {
		return "the default"
	}
	return value
}
