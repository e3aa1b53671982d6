package proto

import "github.com/gohalo/halo/hlo"

// maxFiller is the greatest number of bytes that are made up for the elided constants of a module.
const maxFiller = 64 << 20

// survey guesses how many bytes the message takes, and makes data for elided constants, since XLA reads no constant without. A mark says
// that the data is made up.
func (e *encoder) survey() (size int) {
	filler := int64(0)
	for c := range e.m.Computations() {
		for in := range c.Instructions() {
			size += guess(in)
			if l := in.Literal(); l != nil && l.IsElided() {
				filler = min(filler+min(elidedBytes(l), maxFiller+1), maxFiller+1)
			}
		}
	}
	if !e.program && 0 < filler && filler <= maxFiller {
		if filled, err := hlo.FillElided(e.m); err == nil {
			e.filled = filled
			size += int(filler)
		}
	}
	return size
}

// guess is about how many bytes an instruction takes.
func guess(in hlo.Instruction) int {
	const opcodeShapeAndIDs, operand = 64, 6
	size := len(in.Name()) + opcodeShapeAndIDs + operand*in.NumOperands()
	if c := in.Common(); c != nil {
		size += len(c.BackendConfig)
		if m := c.Metadata; m != nil {
			size += len(m.OpName) + len(m.OpType) + len(m.SourceFile)
		}
	}
	if l := in.Literal(); l != nil && !l.IsElided() {
		size += int(l.Shape().ByteSize())
	}
	return size
}
