package scalar

import "sync"

// SetNative switches the translation of programs to come on or off, and returns what it was.
func SetNative(on bool) (was bool) {
	was, hasNative = hasNative, on
	return was
}

// MeetDenormals makes the next piece of a run go through the code for denormals.
func (s *State) MeetDenormals() { s.denormals = true }

// ByName is the name that is spelled as given: "add.s32".
func ByName(spelled string) Name { return bySpelling()[spelled] }

var bySpelling = sync.OnceValue(func() map[string]Name {
	m := map[string]Name{}
	for _, n := range Names() {
		m[n.String()] = n
	}
	return m
})
