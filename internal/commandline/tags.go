package commandline

import (
	"reflect"
	"strconv"
	"strings"
)

// tags are the keys of a field's tag with their values. A tag is read once: to look a key up in it is to read all that comes before, the sentence of help above all, and
// every field is asked for a dozen keys.
type tags []struct{ key, value string }

// tagsOf reads the tag of a field, which has the form that [reflect.StructTag] describes.
func tagsOf(field reflect.StructField) (t tags) {
	for rest := string(field.Tag); ; {
		key, after, ok := strings.Cut(strings.TrimLeft(rest, " "), ":")
		if !ok {
			return t
		}
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			panic(field.Name + ": " + string(field.Tag) + " is no tag") // the struct is at fault
		}
		value, _ := strconv.Unquote(quoted)
		t = append(t, struct{ key, value string }{key, value})
		rest = after[len(quoted):]
	}
}

func (t tags) Lookup(key string) (value string, ok bool) {
	for _, tag := range t {
		if tag.key == key {
			return tag.value, true
		}
	}
	return "", false
}

func (t tags) Get(key string) string {
	value, _ := t.Lookup(key)
	return value
}
