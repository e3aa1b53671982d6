package hlo

// An opcode that halo does not know, of a release to come say, is kept by the lenient reader as a custom-call with side effects whose
// target is the opcode, and all of whose own attributes are unknown. The first of these has the opcode for its text, and no key.

// MarkUnknownOpcode makes c the common attributes of an instruction of an opcode that halo does not know.
func MarkUnknownOpcode(c *Common, opcode string) {
	c.Unknown = append([]UnknownAttr{{Text: opcode}}, c.Unknown...)
}

// UnknownOpcode is the opcode that an instruction was written with if halo does not know it.
func (in Instruction) UnknownOpcode() (opcode string, ok bool) {
	if in.Opcode() != OpCustomCall {
		return "", false
	}
	if c := in.Common(); c != nil && len(c.Unknown) > 0 && c.Unknown[0].Key == "" {
		return c.Unknown[0].Text, true
	}
	return "", false
}
