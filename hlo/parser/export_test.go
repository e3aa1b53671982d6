package parser

import "github.com/gohalo/halo/hlo"

// ParseInPlace reads a module in place only.
func ParseInPlace(c Config, file, text string) (hlo.Module, bool) {
	return newParser(c, file, text).inPlace()
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
