package parser

import (
	"fmt"
	"strings"
)

// Advice is what a person who knows the language would say to a fault, seeing the text around it. It is looked for when a fault is
// reported, so that reading knows nothing of it.

// advice is a row of the table: what to say of a fault whose message begins so, at an offset of the text; "" for nothing.
type advice struct {
	message string
	say     func(text string, off int) string
	// what may be defined too late is found by defines: see adviseOrder.
	what    string
	defines func(s string, name, end int) bool
	// better says that the row knows more than a note that the fault has already.
	better bool
}

var adviceTable = []advice{
	{message: "expects name", say: adviseName},
	{message: "expects '=' in instruction", say: adviseText},
	{message: "expects ')' at the end of operands", say: adviseOperandEnd},
	{message: "expects an operand", say: adviseOperand, better: true},
	{message: "expects attribute name", say: adviseAttribute},
	{message: "expects '{' at the beginning of instruction list", say: adviseHead},
	{message: "expects ',' or the next instruction", say: adviseTrailing},
	{message: "expects string", say: adviseString},
	{message: "expects a value", say: adviseString},
	{message: "expected primitive type", say: adviseType, better: true},
	{message: "expects ')' after constant literal", say: adviseNumber},
	{message: "expects '{' at the beginning of a list", say: adviseList},
	{message: "instruction does not exist", what: "an instruction", defines: definesInstruction, better: true},
	{message: "computation does not exist", what: "a computation", defines: definesComputation, better: true},
	{message: "cannot infer shape", say: func(string, int) string {
		return "its shape does not follow from its operands, and is written before the opcode"
	}},
}

// advise completes the notes of a fault.
func (p *parser) advise(f *failure) []string {
	if len(p.errs) == 0 && isMLIR(p.text) {
		return []string{"this is MLIR, not HLO text: JAX writes HLO with lowered.as_text(dialect=\"hlo\"), StableHLO becomes HLO with stablehlo-translate"}
	}
	off := min(max(f.off, 0), len(p.text))
	for _, a := range adviceTable {
		if !strings.HasPrefix(f.msg, a.message) || len(f.note) > 0 && !a.better {
			continue
		}
		say := ""
		if a.defines != nil {
			say = p.adviseOrder(off, a.what, a.defines)
		} else {
			say = a.say(p.text, off)
		}
		if say != "" {
			return []string{say}
		}
	}
	return f.note
}

// isMLIR reports whether a text begins as modules and functions of MLIR do.
func isMLIR(s string) bool {
	s = s[skipSpace(s, 0):]
	for _, head := range []string{"module @", "module {", "module attributes", "builtin.module", "func.func", "#loc", "#map"} {
		if strings.HasPrefix(s, head) {
			return true
		}
	}
	return false
}

func adviseName(s string, off int) string {
	switch {
	case skipSpace(s, 0) >= len(s) && strings.TrimSpace(s) == "":
		return "the text is empty"
	case skipSpace(s, 0) >= len(s):
		return "the text has nothing but comments"
	case off >= len(s):
	case s[off] == '}':
		return "this '}' closes nothing: there is one before that is too many, or a '{' is missing"
	case s[off] == '{' && strings.HasSuffix(strings.TrimRight(s[:off], " \t\r\n"), "ENTRY"):
		return "the entry computation needs a name: ENTRY main {"
	case off == skipSpace(s, 0):
		return beginning
	}
	return ""
}

const beginning = "HLO text begins with HloModule NAME, or with its first computation or instruction"

// adviseText says what HLO is to who has given prose: its first word is taken for the name of an instruction.
func adviseText(s string, off int) string {
	first := skipSpace(s, 0)
	if skipSpace(s, skipWord(s, first)) == off && (off >= len(s) || class[s[off]]&classLetter != 0) {
		return beginning
	}
	return ""
}

func adviseOperandEnd(s string, off int) string {
	if off < len(s) && (s[off] == '%' || class[s[off]]&classLetter != 0) {
		return "operands are separated by commas"
	}
	return ""
}

func adviseOperand(s string, off int) string {
	end := skipWord(s, off)
	switch {
	case off >= len(s):
	case end > off && end < len(s) && s[end] == '=':
		return "the operands end with ')', which belongs before the comma"
	case s[off] == ')':
		return "no comma stands behind the last operand"
	case s[off] == ',':
		return "an operand is missing between two commas"
	}
	return ""
}

func adviseAttribute(s string, off int) string {
	end := skipWord(s, off)
	next := skipSpace(s, end)
	before := strings.TrimRight(s[:off], " \t\r\n")
	switch {
	case end > off && next > end && next < len(s) && s[next] == '=' && !lineBegins(s, off):
		return "the '=' of an attribute touches its name: " + s[off:end] + "="
	case strings.HasSuffix(before, ","), off < len(s) && s[off] == ',':
		return "no comma stands behind the last attribute"
	}
	return ""
}

// lineBegins reports whether there is nothing but white space before off in its line.
func lineBegins(s string, off int) bool {
	line := s[strings.LastIndexByte(s[:off], '\n')+1 : off]
	return strings.TrimLeft(line, " \t\r") == ""
}

func adviseHead(s string, off int) string {
	start := strings.LastIndexByte(s[:off], '\n') + 1
	word := s[start:skipWord(s, start)]
	switch {
	case strings.HasPrefix(s[:off], "HloModule") && !strings.Contains(s[:off], "{"):
		return "attributes of the header come after commas"
	case word != "ENTRY" && strings.EqualFold(word, "ENTRY"):
		return "did you mean \"ENTRY\"?"
	}
	return "a computation is written `name { ... }` or `name (p: f32[]) -> f32[] { ... }`"
}

func adviseTrailing(s string, off int) string {
	switch {
	case off >= len(s):
	case s[off] == ';':
		return "no ';' stands behind an instruction"
	case s[off] == '#':
		return "comments begin with //, or stand between /* and */"
	case strings.HasPrefix(s[off:], "/*"):
		return "the comment that begins here does not end: */ is missing"
	case s[off] == '{' || s[off] == '[':
		return "attributes are separated by commas, and written key=value"
	case lineBegins(s, off) && class[s[off]]&classIdent != 0:
		return "an instruction is written name = shape opcode(operands)"
	}
	return ""
}

func adviseString(s string, off int) string {
	switch {
	case off >= len(s):
	case strings.HasPrefix(s[off:], "“"), strings.HasPrefix(s[off:], "”"), strings.HasPrefix(s[off:], "‘"), strings.HasPrefix(s[off:], "’"):
		return "quotes are straight, \" or '"
	case class[s[off]]&classIdent != 0:
		return "strings stand in quotes, \" or '"
	}
	return ""
}

func adviseType(s string, off int) string {
	end := skipWord(s, off)
	word := s[off:end]
	if _, ok := typeByName(word); ok && end < len(s) && (s[end] == '{' || s[end] == '(' || s[end] == '<') {
		return "dimensions stand in brackets, those of a scalar too: " + word + "[2,3], " + word + "[]"
	}
	return ""
}

func adviseNumber(s string, off int) string {
	if off > 0 && off < len(s) && class[s[off-1]]&classDigit != 0 && class[s[off]]&classLetter != 0 {
		return "a number has no suffix"
	}
	return ""
}

func adviseList(s string, off int) string {
	if off < len(s) && (class[s[off]]&classDigit != 0 || s[off] == '[' || s[off] == '(') {
		return "a list stands in braces, even of one: {0}"
	}
	return ""
}

// adviseOrder reports a name that is defined only behind its use.
func (p *parser) adviseOrder(off int, what string, defines func(s string, name, end int) bool) string {
	s, at := p.text, off
	if at < len(s) && s[at] == '%' {
		at++
	}
	word := s[at:skipWord(s, at)]
	if word == "" {
		return ""
	}
	start := p.statementAt(off)
	if start < at && word == s[start:skipWord(s, start)] && defines(s, start, start+len(word)) {
		return word + " is what is defined here: " + what + " cannot use itself"
	}
	for from := at + len(word); ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return ""
		}
		i += from
		from = i + len(word)
		if class[s[i-1]]&classIdent == 0 && (from >= len(s) || class[s[from]]&classIdent == 0) && defines(s, i, from) {
			return fmt.Sprintf("%s is defined below, in line %d: %s comes before those that use it", word, p.errorAt(i, "").Line, what)
		}
	}
}

// statementAt is the offset of the name that the line around off begins with, behind ROOT and the sign of a name.
func (p *parser) statementAt(off int) int {
	at := skipSpace(p.text, strings.LastIndexByte(p.text[:off], '\n')+1)
	if end := skipWord(p.text, at); p.text[at:end] == "ROOT" {
		at = skipSpace(p.text, end)
	}
	if at < len(p.text) && p.text[at] == '%' {
		at++
	}
	return at
}

// definesInstruction reports whether the name from i to end is the left side of an instruction.
func definesInstruction(s string, i, end int) bool {
	next := skipSpace(s, end)
	return next > end && next < len(s) && s[next] == '='
}

// definesComputation reports whether the name from i to end begins a line that ends in an opening brace.
func definesComputation(s string, i, end int) bool {
	start := strings.LastIndexByte(s[:i], '\n') + 1
	stop := len(s)
	if k := strings.IndexByte(s[end:], '\n'); k >= 0 {
		stop = end + k
	}
	before := strings.Trim(s[start:i], " \t%")
	next := skipSpace(s, end)
	return (before == "" || before == "ENTRY") && next < len(s) && (s[next] == '(' || s[next] == '{') &&
		strings.HasSuffix(strings.TrimRight(s[end:stop], " \t\r"), "{")
}

// unclosed finds the bracket to blame for a computation that does not end: head is the offset of its opening brace. Where a line begins
// that can only be an instruction, inside of brackets that are not those of a computation, these were to end before. It returns the
// bracket's offset, and what is wrong.
func unclosed(s string, head int) (off int, msg string) {
	type open struct {
		at   int
		body bool // of instructions
	}
	stack := []open{{head, true}}
	for i := head + 1; i < len(s); {
		switch c := s[i]; {
		case class[c]&classSlash != 0:
			j := skipSpace(s, i)
			if j == i {
				return i, "the comment that begins here does not end"
			}
			i = j
			continue
		case class[c]&classQuote != 0:
			if j := skipString(s, i); j > 0 {
				i = j
				continue
			}
			return i, "string does not end"
		case class[c]&classOpen != 0:
			stack = append(stack, open{i, c == '{' && definesAt(s, skipSpace(s, i+1))})
		case c == '}' || c == ')' || c == ']':
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return head, ""
			}
		case c == '\n':
			next := skipSpace(s, i)
			top := stack[len(stack)-1]
			switch {
			case !top.body && definesAt(s, next):
				return top.at, fmt.Sprintf("this '%c' is never closed", s[top.at])
			case len(stack) == 1 && next < len(s) && beginsHead(s, next):
				return next, "a computation begins inside of another, whose '}' is missing"
			}
			i = next
			continue
		}
		i++
	}
	top := stack[len(stack)-1]
	return top.at, fmt.Sprintf("this '%c' is never closed", s[top.at])
}

// beginsHead reports whether the line at i is the head of a computation.
func beginsHead(s string, i int) bool {
	end := len(s)
	if k := strings.IndexByte(s[i:], '\n'); k >= 0 {
		end = i + k
	}
	line := strings.TrimRight(s[i:end], " \t\r")
	return strings.HasSuffix(line, "{") && !strings.Contains(line, "=") && (class[s[i]]&classLetter != 0 || s[i] == '%')
}
