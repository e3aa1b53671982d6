package printer

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// stackFrames writes the tables that stack_frame_id refers to, each under its title, ids from 1. In text the id of a parent is one
// higher than the number of its line, 1 meaning none.
func (p *printer) stackFrames() {
	t := p.m.Config().StackFrames
	if t == nil || len(t.Frames) == 0 || p.OmitMetadata || p.InlineFrames {
		return
	}
	p.table("FileNames", len(t.FileNames), func(i int) { p.b = hlo.AppendQuoted(p.b, t.FileNames[i]) })
	p.table("FunctionNames", len(t.FunctionNames), func(i int) { p.b = hlo.AppendQuoted(p.b, t.FunctionNames[i]) })
	p.table("FileLocations", len(t.Locations), func(i int) {
		l := &t.Locations[i]
		p.field("{file_name_id=", l.FileNameID)
		p.field(" function_name_id=", l.FunctionNameID)
		p.field(" line=", l.Line)
		p.field(" end_line=", l.EndLine)
		p.field(" column=", l.Column)
		p.field(" end_column=", l.EndColumn)
		p.str("}")
	})
	p.table("StackFrames", len(t.Frames), func(i int) {
		p.field("{file_location_id=", t.Frames[i].FileLocationID)
		p.field(" parent_frame_id=", t.Frames[i].ParentFrameID+1)
		p.str("}")
	})
	p.line()
}

func (p *printer) table(title string, n int, entry func(int)) {
	p.line()
	p.str(title)
	p.line()
	for i := range n {
		p.int(int64(i) + 1)
		p.str(" ")
		entry(i)
		p.line()
	}
}

func (p *printer) field(head string, v int32) {
	p.str(head)
	p.int(int64(v))
}

// originRecovery writes the modules that rebuild lost original values, ordered by the value they rebuild. What follows the table
// starts on a line of its own.
func (p *printer) originRecovery(table []hlo.OriginRecovery) {
	if len(table) == 0 || p.OmitOrigin {
		return
	}
	p.str(", origin_recovery_table={\n")
	for _, e := range sortedByText(table, func(e *hlo.OriginRecovery) *hlo.OriginNode { return &e.Lost }) {
		p.indent(p.Indent + 1)
		p.b = e.Lost.AppendText(p.b)
		p.b = e.Kept.AppendText(append(p.b, " : "...))
		text := []byte(e.Text)
		if e.Module != nil {
			text, _ = Append(nil, *e.Module, Config{})
		}
		if len(text) > 0 {
			p.str(",\n")
			p.indent(p.Indent + 1)
			p.str("\"\n")
			p.indented(string(text))
			p.indent(p.Indent + 1)
			p.str("\"")
		}
		p.str("\n")
	}
	p.str("}\n")
}

// indented writes the lines of a module inside a string: two more steps before each that is not blank, quotes and backslashes escaped.
func (p *printer) indented(text string) {
	text = strings.TrimSuffix(text, "\n")
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			p.indent(p.Indent + 2)
			for i := range len(line) {
				if c := line[i]; c == '"' || c == '\\' {
					p.b = append(p.b, '\\')
				}
				p.b = append(p.b, line[i])
			}
		}
		p.str("\n")
	}
	p.str("\n")
}

// debugAttributes writes the callbacks on original values, ordered by value.
func (p *printer) debugAttributes(table []hlo.DebugAttribute) {
	if len(table) == 0 {
		return
	}
	p.str(",\ndebug_attributes={\n")
	for i, a := range sortedByText(table, func(a *hlo.DebugAttribute) *hlo.OriginNode { return &a.Array }) {
		if i > 0 {
			p.str(",\n")
		}
		p.indent(p.Indent + 1)
		p.b = a.Array.AppendText(p.b)
		p.str(":(")
		for k := range a.Entries {
			if k > 0 {
				p.str(",")
			}
			p.b = a.Entries[k].AppendText(p.b)
		}
		p.str(")")
	}
	p.str("\n}")
}

// sortedByText returns pointers to the entries, ordered by name and index of their key.
func sortedByText[T any](entries []T, key func(*T) *hlo.OriginNode) []*T {
	sorted := make([]*T, len(entries))
	for i := range entries {
		sorted[i] = &entries[i]
	}
	slices.SortStableFunc(sorted, func(a, b *T) int {
		x, y := key(a), key(b)
		return cmp.Or(cmp.Compare(x.Name, y.Name), slices.Compare(x.Index, y.Index),
			bytes.Compare(x.AppendText(nil), y.AppendText(nil)))
	})
	return sorted
}
