package proto

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/prototext"
)

// The names of fields, which schema.go has no use for, of XLA's messages from HloModuleProto, HloProto and HloSnapshot on.
//
//go:embed schema.txt
var schemaText string

var textSchema = sync.OnceValue(func() *prototext.Schema {
	s, err := prototext.Parse(schemaText)
	if err != nil {
		panic(err)
	}
	return s
})

// EncodeText is [Encode] as text, which XLA calls pbtxt. It has XLA's fields alone: of what [Encode] adds to them, replica counts among it, text has none.
func EncodeText(m hlo.Module) ([]byte, error) {
	return textSchema().Append(nil, "HloModuleProto", Encode(m))
}

// textMessages are the messages that a text may be of, each with the field that identifies it.
var textMessages = []struct{ name, by string }{
	{"HloModuleProto", "computations"}, {"HloProto", "hlo_module"}, {"HloSnapshot", "hlo"},
}

// DecodeText reads a module from the text of an HloModuleProto, HloProto or HloSnapshot. An error in the text is a *[prototext.Error].
func DecodeText(text []byte) (hlo.Module, error) {
	var first error
	for _, m := range textMessages {
		if name := textMessage(text); name != "" && name != m.name {
			continue
		}
		data, err := textSchema().Unmarshal(m.name, text)
		if err == nil {
			return Decode(data)
		}
		if first == nil {
			first = err
		}
	}
	return hlo.Module{}, first
}

// HasText reports whether text looks like that of a message with a module.
func HasText(text []byte) bool { return textMessage(text) != "" }

// textMessage is the message that a text is of, by the names of the fields at the beginnings of lines that are not indented; "" if it is of none.
func textMessage(text []byte) string {
	for line := range strings.Lines(sharedString(text)) {
		word := strings.TrimRight(line, "\r\n")
		if i := strings.IndexAny(word, " :{<\t"); i >= 0 {
			word = word[:i]
		}
		for _, m := range textMessages {
			if word == m.by {
				return m.name
			}
		}
		// Something that no message has there ends the search: HLO text, for instance.
		if word != "" && word[0] != '#' && word != "}" && word != ">" && !slices.ContainsFunc(textMessages, func(m struct{ name, by string }) bool {
			_, known := slices.BinarySearch(textSchema().Fields(m.name), word)
			return known
		}) {
			return ""
		}
	}
	return ""
}
