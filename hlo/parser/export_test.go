package parser

import "github.com/gohalo/halo/hlo"

// ParseAlone reads a module by one goroutine.
func ParseAlone(c Config, file, text string) (hlo.Module, error) {
	p := newParser(c, file, text)
	p.chunk = len(text) + 1
	return p.whole(false)
}

// ParseAhead reads a module after the reader ahead has been through all of it. read is how many instructions it has read.
func ParseAhead(c Config, file, text string) (m hlo.Module, read int, err error) {
	const size = 4096
	p := newParser(c, file, text)
	whole := new(chunk)
	ahead := p.second()
	for from := 1; from < len(text); from += size {
		ahead.readChunk(whole, from, from+size)
	}
	whole.ready.Store(true)
	p.ahead = &aheadReader{current: whole, end: len(text) + 1}
	m, err = p.whole(false)
	return m, len(whole.readings), err
}

// ParseByTwo reads a module by two goroutines, however short it is.
func ParseByTwo(c Config, file, text string) (hlo.Module, error) {
	p := newParser(c, file, text)
	p.chunk = max(1, len(text)/64)
	return p.whole(false)
}

// IsSingleInstruction reports whether a text is one instruction and no module.
func IsSingleInstruction(text string) bool {
	return newParser(Config{}, "", text).isSingleInstruction()
}

// Window reads a window as the parser of its grammar does, and as the function for plain ones does; each is nil where that refuses the text.
func Window(text string) (whole, plain any) {
	if w, err := windowGrammar.run(text); err == nil {
		whole = *w
	}
	if w, ok := plainWindow(text); ok {
		plain = *w
	}
	return whole, plain
}
