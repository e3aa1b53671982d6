package parser

import "github.com/gohalo/halo/hlo"

// ParseInPlace reads a module in place only.
func ParseInPlace(c Config, file, text string) (hlo.Module, bool) {
	return newParser(c, file, text).inPlace()
}

// ParseAhead reads a module in place, after the reader ahead has been through all of it. read is how many instructions it has read.
func ParseAhead(c Config, file, text string) (m hlo.Module, ok bool, read int) {
	const size = 4096
	p := newParser(c, file, text)
	whole := new(chunk)
	ahead := p.second()
	for from := 1; from < len(text); from += size {
		ahead.readChunk(whole, from, from+size)
	}
	whole.ready.Store(true)
	p.ahead = &aheadReader{current: whole, end: len(text) + 1}
	m, ok = p.inPlace()
	return m, ok, len(whole.readings)
}

// ParseByTwo reads a module in place by two goroutines, however short it is.
func ParseByTwo(c Config, file, text string) (m hlo.Module, ok bool) {
	p := newParser(c, file, text)
	p.chunk = max(1, len(text)/64)
	return p.inPlace()
}

// ParseByStatements reads a module by statements only.
func ParseByStatements(c Config, file, text string) (hlo.Module, error) {
	p := newParser(c, file, text)
	var m hlo.Module
	p.guard(func() { m = p.module() })
	if len(p.errs) > 0 {
		p.errs.sort()
		return hlo.Module{}, p.errs
	}
	return m, nil
}

// IsSingleInstruction reports whether a text is one instruction and no module.
func IsSingleInstruction(text string) bool {
	return newParser(Config{}, "", text).isSingleInstruction()
}
