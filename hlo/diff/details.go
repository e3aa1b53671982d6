package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/printer"
)

// normalise writes the JSON in the attributes of a module's instructions in one way, keys in order, so that comparing texts compares what they say.
// Identities stay.
func normalise(m hlo.Module) hlo.Module {
	var e *hlo.Editor
	for c := range m.Computations() {
		for x := range c.Instructions() {
			k := x.Common()
			if k == nil || !strings.HasPrefix(k.BackendConfig, "{") {
				continue
			}
			text, ok := canonical(k.BackendConfig)
			if !ok || text == k.BackendConfig {
				continue
			}
			if e == nil {
				e = m.Edit()
			}
			common := *k
			common.BackendConfig = text
			e.Computation(c.ID()).Instr(x.ID()).SetCommon(&common)
		}
	}
	if e == nil {
		return m
	}
	return e.Freeze()
}

// canonical is a JSON text with keys in order and without space. Numbers keep their digits.
func canonical(text string) (string, bool) {
	v, ok := decode(text)
	if !ok {
		return text, false
	}
	out, err := json.Marshal(v)
	return string(out), err == nil
}

func decode(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil || d.More() {
		return nil, false
	}
	return v, true
}

// details lists the attributes in which two instructions differ, and the parts of those that are JSON.
func (f *finder) details(a, b hlo.Instruction) (list []Detail) {
	x, y := attributes(f.a, a), attributes(f.b, b)
	for _, name := range slices.Sorted(maps.Keys(union(x, y))) {
		if x[name] == y[name] {
			continue
		}
		u, ok1 := decode(x[name])
		v, ok2 := decode(y[name])
		if name == string(hlo.KeyBackendConfig) && ok1 && ok2 {
			list = appendJSON(list, name, u, v)
			continue
		}
		list = append(list, Detail{name, x[name], y[name]})
	}
	return list
}

func union(x, y map[string]string) map[string]bool {
	all := map[string]bool{}
	for k := range x {
		all[k] = true
	}
	for k := range y {
		all[k] = true
	}
	return all
}

// attributes are those of an instruction as text, without the ones that say nothing about what it computes.
func attributes(m hlo.Module, x hlo.Instruction) map[string]string {
	cfg := printer.Config{OmitMetadata: true, OmitOrigin: true, OmitControl: true, LargeConstants: x.Opcode() == hlo.OpConstant && x.Shape().IsArray() && x.Shape().NumElements() <= 64}
	text, err := printer.AppendInstruction(nil, m, x, cfg)
	all := map[string]string{}
	if err != nil {
		return all
	}
	line := string(text)
	if x.Opcode() == hlo.OpConstant {
		if _, value, ok := strings.Cut(line, " constant("); ok {
			all["value"] = strings.TrimSuffix(strings.TrimSpace(value), ")")
		}
		return all
	}
	for _, part := range split(line)[1:] {
		if name, value, ok := strings.Cut(part, "="); ok {
			all[strings.TrimSpace(name)] = value
		}
	}
	if c := x.Common(); c != nil && c.BackendConfig != "" {
		all[string(hlo.KeyBackendConfig)] = c.BackendConfig
	}
	return all
}

// split divides a line at the commas that are in no brackets and no quotes.
func split(line string) (parts []string) {
	depth, from, quoted := 0, 0, false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case '(', '{', '[':
			if !quoted {
				depth++
			}
		case ')', '}', ']':
			if !quoted {
				depth--
			}
		case ',':
			if depth == 0 && !quoted {
				parts = append(parts, line[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, line[from:])
}

// appendJSON lists where two JSON values differ, by path.
func appendJSON(list []Detail, path string, a, b any) []Detail {
	x, ok1 := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok1 || !ok2 {
		s, t := jsonText(a), jsonText(b)
		if s != t {
			list = append(list, Detail{path, s, t})
		}
		return list
	}
	keys := map[string]bool{}
	for k := range x {
		keys[k] = true
	}
	for k := range y {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		u, has1 := x[k]
		v, has2 := y[k]
		switch {
		case !has1:
			list = append(list, Detail{path + "." + k, "", jsonText(v)})
		case !has2:
			list = append(list, Detail{path + "." + k, jsonText(u), ""})
		default:
			list = appendJSON(list, path+"."+k, u, v)
		}
	}
	return list
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
