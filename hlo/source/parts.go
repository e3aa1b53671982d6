package source

import (
	"strings"
	"unsafe"

	"github.com/gohalo/halo/hlo/parser"
)

// Parts cuts a text of several modules: at lines that begin with `// -----`, and, where HLO modules follow each other without such a
// line, as in dumps that were put together, before each header. Other files are one part. A part shares memory with data.
func Parts(kind Kind, data []byte) []parser.Part {
	text := unsafe.String(unsafe.SliceData(data), len(data))
	if kind != HLOText && kind != StableHLOText {
		return []parser.Part{{Text: text}}
	}
	parts := parser.Split(text)
	if kind != HLOText {
		return parts
	}
	var all []parser.Part
	for _, p := range parts {
		all = appendHeaders(all, p)
	}
	return all
}

// header begins the line of a header.
const header = "\nHloModule "

// appendHeaders cuts a part before each header but the first.
func appendHeaders(parts []parser.Part, p parser.Part) []parser.Part {
	from := 0 // where to look for the next header
	if !strings.HasPrefix(p.Text, header[1:]) {
		if from = strings.Index(p.Text, header) + 1; from == 0 {
			return append(parts, p)
		}
	}
	for {
		n := strings.Index(p.Text[from:], header)
		if n < 0 {
			return append(parts, p)
		}
		cut := from + n + 1
		parts = append(parts, parser.Part{Text: p.Text[:cut], LinesBefore: p.LinesBefore})
		p = parser.Part{Text: p.Text[cut:], LinesBefore: p.LinesBefore + strings.Count(p.Text[:cut], "\n")}
		from = 0
	}
}
