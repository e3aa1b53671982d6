// Package parser reads HLO text.
//
//	m, err := parser.Parse("model.hlo", text)
//
// It reads everything XLA reads: full modules, computations without a header, single instructions with or without a left side;
// operands written in place, tuple elements written as `x#1`, computations written in place, sugared asynchronous ops, constants
// of every type. The fragments of the language parse on their own: [ParseShape], [ParseSharding], [ParseReplicaGroups] and so on.
// [Split] cuts a text of several modules.
//
// Errors are an [ErrorList]: all faults that could be told apart, each with its place, its source line and advice. Text never
// panics, and never takes more memory than its size and [Config.MaxConstantBytes] allow.
//
// # How it works
//
//	front.go        the grammar of what stands before the computations: header and debug tables (participle)
//	module.go       header, debug tables and computations become a module of package hlo
//	instruction.go  instructions: read by hand, since most of the time goes here; opcodetable.go finds the opcode of a mnemonic
//	ahead.go        a second goroutine reads ahead in large texts
//	session.go      versions of a text, of which little is read anew
//	recover.go      what is read again, and where reading goes on, behind a fault
//	statement.go    where a statement ends, whatever lines it spans
//	operand.go      operands: names, tuple elements, instructions in place
//	attribute.go    attributes, driven by the op table: the reader of a value is chosen by the Go type of the struct field;
//	                attribute_skip.go finds where a value ends
//	grammar*.go     structured attribute values: participle grammars over the tokens of token.go
//	sharding_*.go   what shardings mean: iota tile assignments and their normal form; named shardings
//	literal*.go     constants, by hand: nesting, numbers
//	async*.go       sugar of asynchronous ops, and the chains they form
//	lenient.go      what is not known is kept as it is written
//	advice.go       what to say of a fault, from the text around it
//
// Every spelling of a shape or of a set of attributes is read once per text and its value shared. Strings in attributes share memory with
// the text; names are copies, which lie together.
//
// The parser checks what XLA's parser checks; whether the module makes sense is for package verifier to say.
package parser

import (
	"errors"
	"math"
	"strings"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// defaultDepth is the nesting that XLA allows.
const defaultDepth = 8192

// Config says how to read. The zero Config reads as XLA does by default.
type Config struct {
	// KeepMissingLayouts leaves arrays that are written without a layout without one, instead of giving them the default layout.
	KeepMissingLayouts bool
	// KeepAutoLayouts does so in entry_computation_layout only.
	KeepAutoLayouts bool
	// KeepZeroSigns reads -0 as the negative zero in a text that a printer wrote, as its entry_computation_layout tells: XLA's printer means
	// that by -0, although its reader makes 0 of it. -0.0 is the negative zero in any text.
	KeepZeroSigns bool
	// Lenient keeps attributes that are not known, as written, instead of refusing them, and likewise instructions of opcodes that are not
	// known: see [hlo.Instruction.UnknownOpcode]. So it does with known attributes whose values are not; where such an attribute is the op's
	// own, the instruction becomes one of an opcode that is not known.
	Lenient bool
	// Strict refuses what XLA of today does although older text has it: attributes of the op repeated on sugared updates and dones.
	Strict bool
	// MaxDepth bounds nesting; 0 means 8192, as in XLA.
	MaxDepth int
	// MaxConstantBytes bounds the bytes of constants that the text does not spell out: `f32[4096,4096] constant(0)`. 0 means 1 GiB.
	MaxConstantBytes int64
	// LinesBefore is the number of lines of the file before the text, for positions.
	LinesBefore int
	// Progress, when set, is told how far reading has come, in bytes of the text, about every ProgressBytes.
	Progress      func(offset int)
	ProgressBytes int
	// Warn, when set, is told of what is legal but doubtful.
	Warn func(*Error)
}

// Parse reads a module with the default [Config]. file is its name in messages.
func Parse(file, text string) (hlo.Module, error) { return Config{}.Parse(file, text) }

// ParseBytes is [Parse] of bytes. The module keeps text, which must not be written afterwards.
func ParseBytes(file string, text []byte) (hlo.Module, error) {
	return Parse(file, unsafe.String(unsafe.SliceData(text), len(text)))
}

// Parse reads a module. The error is an [ErrorList].
func (c Config) Parse(file, text string) (hlo.Module, error) {
	p := newParser(c, file, text)
	if len(text) > maxText {
		return hlo.Module{}, ErrorList{p.errorAt(0, errTooLong.Error())}
	}
	return p.whole(p.isSingleInstruction())
}

// maxText is the longest text: offsets of 32 bits are kept in many places.
const maxText = math.MaxUint32

// errTooLong refuses a text whose offsets do not fit.
var errTooLong = errors.New("a text of 4 GiB and more cannot be read")

// whole reads the text as a single instruction or as a module.
func (p *parser) whole(single bool) (m hlo.Module, err error) {
	if single {
		p.guard(func() { m = p.single() })
	} else {
		m = p.module()
	}
	if len(p.errs) > 0 {
		p.errs.sort()
		return hlo.Module{}, p.errs
	}
	return m, nil
}

// isSingleInstruction reports whether the text is a lone instruction (hlo-text section 2.1).
func (p *parser) isSingleInstruction() bool {
	s := p.text
	i := skipSpace(s, 0)
	end := i
	if end < len(s) && s[end] == '%' {
		end++
	}
	end = skipWord(s, end)
	switch s[i:end] {
	case "HloModule", "ENTRY":
		return false
	}
	if end < len(s) && s[end] == ':' {
		end++
	}
	end = skipSpace(s, end)
	return end >= len(s) || s[end] != '{'
}

// Part is one module of a text of several.
type Part struct {
	Text        string
	LinesBefore int // in the whole text: see [Config.LinesBefore]
}

// Split cuts a text at lines that begin with `// -----`. Parts of nothing but comments are left out.
func Split(text string) []Part {
	start, end := separator(text, 0)
	if start < 0 {
		return []Part{{Text: text}}
	}
	var parts []Part
	from, line := 0, 0
	add := func(part string) {
		if skipSpace(part, 0) < len(part) {
			parts = append(parts, Part{part, line})
		}
	}
	for start >= 0 {
		add(text[from:start])
		line += strings.Count(text[from:end], "\n")
		from = end
		start, end = separator(text, from)
	}
	add(text[from:])
	return parts
}

// separator finds the next line from offset i on, where a line begins or ends, that begins with `// -----`: its bounds without the line
// end, -1 when there is none. Searching for plain text goes through megabytes in no time.
func separator(text string, i int) (start, end int) {
	const head = "\n// -----"
	if i == 0 && strings.HasPrefix(text, head[1:]) {
		start = 0
	} else if j := strings.Index(text[i:], head); j >= 0 {
		start = i + j + 1
	} else {
		return -1, -1
	}
	if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
		return start, start + n
	}
	return start, len(text)
}

// warn adds a warning about offset off.
func (p *parser) warn(off int, msg string) { p.warnRule("", off, msg) }

// warnRule is warn with the rule of the verifier that the text does not keep.
func (p *parser) warnRule(rule string, off int, msg string) {
	if p.Warn == nil {
		return
	}
	p.leave()
	e := p.errorAt(off, msg)
	e.Warning, e.Rule = true, rule
	if p.quiet {
		p.warnings = append(p.warnings, e)
		return
	}
	p.Warn(e)
}
