package proto

import "github.com/gohalo/halo/hlo"

// maxFiller is the greatest number of bytes that are made up for the elided constants of a module.
const maxFiller = 64 << 20

// survey guesses how many bytes the message takes, and makes data for elided constants, since XLA reads no constant without. A mark says
// that the data is made up.
func (e *encoder) survey() (size int) {
	const perInstruction = 128
	filler := int64(0)
	for c := range e.m.Computations() {
		size += c.NumInstructions() * perInstruction
		for in := range c.Instructions() {
			l := in.Literal()
			switch {
			case l == nil:
			case l.IsElided():
				filler = min(filler+min(elidedBytes(l), maxFiller+1), maxFiller+1)
			default:
				size += int(l.Shape().ByteSize())
			}
		}
	}
	if 0 < filler && filler <= maxFiller {
		e.filled = hlo.FillElided(e.m)
		size += int(filler)
	}
	return size
}
