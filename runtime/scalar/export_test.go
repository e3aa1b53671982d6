package scalar

// SetNative switches the translation of programs to come on or off, and returns what it was.
func SetNative(on bool) (was bool) {
	was, hasNative = hasNative, on
	return was
}

// MeetDenormals makes the next piece of a run go through the code for denormals.
func (s *State) MeetDenormals() { s.denormals = true }
