package printer

import (
	"bytes"
	"encoding/json"
	"slices"
)

// sortJSON returns text with the keys of all its objects in order when it is a JSON object, and text itself otherwise. Numbers and
// strings stay as they are written.
func sortJSON(text string) string {
	if len(text) == 0 || text[0] != '{' || !json.Valid([]byte(text)) {
		return text
	}
	return string(appendSorted(nil, []byte(text)))
}

func appendSorted(b, value []byte) []byte {
	value = bytes.TrimSpace(value)
	switch value[0] {
	case '{':
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return append(b, value...)
		}
		keys := make([]string, 0, len(object))
		for k := range object {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			name, _ := json.Marshal(k)
			b = appendSorted(append(append(b, name...), ':'), object[k])
		}
		return append(b, '}')
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return append(b, value...)
		}
		b = append(b, '[')
		for i, e := range list {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendSorted(b, e)
		}
		return append(b, ']')
	}
	return append(b, value...)
}
