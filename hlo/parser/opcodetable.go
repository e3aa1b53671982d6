package parser

import (
	"sync"

	"github.com/gohalo/halo/hlo"
)

// opcodeTable finds opcodes by their words: open addressing over a hash of the length and a few letters.
type opcodeTable [512]struct {
	word string
	op   hlo.Opcode
}

var opcodes = func() *opcodeTable {
	t := new(opcodeTable)
	for op := range hlo.Opcodes {
		i := opcodeHash(op.String())
		for t[i].word != "" {
			i = (i + 1) % uint32(len(t))
		}
		t[i].word, t[i].op = op.String(), op
	}
	return t
}()

func opcodeHash(word string) uint32 {
	n := len(word)
	h := uint32(n) | uint32(word[0])<<8 | uint32(word[n/2])<<16 | uint32(word[n-1])<<24
	return h * 0x9e3779b1 >> 23
}

// find is the opcode that is spelled word, OpInvalid when there is none.
func (t *opcodeTable) find(word string) hlo.Opcode {
	for i := opcodeHash(word); t[i].word != ""; i = (i + 1) % uint32(len(t)) {
		if t[i].word == word {
			return t[i].op
		}
	}
	return hlo.OpInvalid
}

// mnemonics are the words that may stand for an opcode, for advice.
var mnemonics = sync.OnceValue(func() (names []string) {
	for op := range hlo.Opcodes {
		names = append(names, op.String())
		for _, step := range []hlo.Opcode{hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAsyncDone} {
			if word, ok := hlo.AsyncMnemonic(step, op); ok {
				names = append(names, word)
			}
		}
	}
	return names
})
