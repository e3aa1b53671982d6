package filecheck

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// numberTokens is the lexer state inside of [[# and ]].
var numberTokens = []lexer.Rule{
	{Name: "blank", Pattern: `[ \t]+`},
	{Name: "Close", Pattern: `\]\]`, Action: lexer.Pop()},
	{Name: "Format", Pattern: `%#?(?:\.[0-9]+)?[udxX]`},
	{Name: "Name", Pattern: `@LINE|\$?[A-Za-z_][A-Za-z0-9_]*`},
	{Name: "Integer", Pattern: `0x[0-9A-Fa-f]+|[0-9]+`},
	{Name: "Equals", Pattern: `==`},
	{Name: "Sign", Pattern: `[-+]`},
	{Name: "Punctuation", Pattern: `[:,()]`},
}

// numberSyntax is the grammar inside of [[# and ]]: a format, a variable to define, a value to match.
type numberSyntax struct {
	Format string     `parser:"( @Format ','? )?"`
	Define string     `parser:"( @Name ':' )?"`
	Exact  bool       `parser:"@Equals?"`
	Value  *sumSyntax `parser:"@@?"`
}

type sumSyntax struct {
	First *termSyntax     `parser:"@@"`
	Rest  []*addendSyntax `parser:"@@*"`
}

type addendSyntax struct {
	Sign string      `parser:"@Sign"`
	Term *termSyntax `parser:"@@"`
}

type termSyntax struct {
	Integer string      `parser:"  @Integer"`
	Call    *callSyntax `parser:"| @@"`
	Name    string      `parser:"| @Name"`
	Sum     *sumSyntax  `parser:"| '(' @@ ')'"`
}

type callSyntax struct {
	Function  string       `parser:"@Name '('"`
	Arguments []*sumSyntax `parser:"( @@ ( ',' @@ )* )? ')'"`
}

// format is how a number is written: %u, %d, %x or %X, at least so many digits, 0x in front.
type format struct {
	verb      byte
	precision int
	prefix    bool
}

func parseFormat(text string) (f format, err error) {
	f.verb = text[len(text)-1]
	text, f.prefix = strings.CutPrefix(text[1:len(text)-1], "#")
	if f.prefix && f.verb != 'x' && f.verb != 'X' {
		return f, errors.New("alternate form only supported for hex values")
	}
	if text != "" {
		if f.precision, err = strconv.Atoi(text[1:]); err != nil || f.precision > 1000 {
			return f, fmt.Errorf("invalid precision %s", text)
		}
	}
	return f, nil
}

// regex matches any number in format f. The first digit of a number that has more than
// the wanted ones is not zero.
func (f format) regex() string {
	digits, first, sign := "[0-9]", "[1-9]", ""
	switch f.verb {
	case 'd':
		sign = "-?"
	case 'x':
		digits, first = "[0-9a-f]", "[1-9a-f]"
	case 'X':
		digits, first = "[0-9A-F]", "[1-9A-F]"
	}
	if f.prefix {
		sign += "0x"
	}
	if f.precision == 0 {
		return sign + digits + "+"
	}
	return fmt.Sprintf("%s(?:%s%s*)?%s{%d}", sign, first, digits, digits, f.precision)
}

// text writes x in format f.
func (f format) text(x *big.Int) (string, error) {
	if x.Sign() < 0 && f.verb != 'd' {
		return "", fmt.Errorf("unable to represent %v in format %%%c", x, f.verb)
	}
	digits, sign := new(big.Int).Abs(x).Text(10), ""
	switch f.verb {
	case 'x':
		digits = x.Text(16)
	case 'X':
		digits = strings.ToUpper(x.Text(16))
	}
	if x.Sign() < 0 {
		sign = "-"
	}
	if f.prefix {
		sign += "0x"
	}
	return sign + strings.Repeat("0", max(0, f.precision-len(digits))) + digits, nil
}

// parse reads a number that f.regex has matched.
func (f format) parse(text string) *big.Int {
	base := 10
	if f.verb == 'x' || f.verb == 'X' {
		base = 16
	}
	if f.prefix {
		text = strings.Replace(text, "0x", "", 1)
	}
	x, _ := new(big.Int).SetString(text, base)
	return x
}

// number is a part of a pattern that matches a number: any one when value is nil.
type number struct {
	format format
	define string // variable that is set to it
	value  expression
	names  []string // variables of value
}

// expression computes a value from the variables.
type expression func(v *variables) (*big.Int, error)

func (n *number) depends() bool { return n != nil && n.value != nil }

// regex is the expression for n, a group when it defines a variable.
func (n *number) regex(v *variables) (string, error) {
	regex := n.format.regex()
	if n.value != nil {
		text, err := n.text(v)
		if err != nil {
			return "", err
		}
		regex = regexp.QuoteMeta(text)
	}
	if n.define != "" {
		return "(" + regex + ")", nil
	}
	return "(?:" + regex + ")", nil
}

// text is the value of n in its format.
func (n *number) text(v *variables) (string, error) {
	x, err := n.value(v)
	if err != nil {
		return "", err
	}
	return n.format.text(x)
}

// lineNumber reads @LINE, @LINE+n or @LINE-n.
func lineNumber(text string, line int) (*number, error) {
	x := big.NewInt(int64(line))
	if offset := strings.TrimPrefix(text, "@LINE"); offset != "" {
		y, ok := new(big.Int).SetString(offset, 10)
		if !ok {
			return nil, fmt.Errorf("invalid offset in %s", text)
		}
		x.Add(x, y)
	}
	return &number{format: format{verb: 'u'}, value: constant(x)}, nil
}

// number checks the syntax and turns it into an expression over the variables.
// own receives the variable that it defines.
func (s *numberSyntax) number(line int, vars symbols, own map[string]bool) (*number, error) {
	n := &number{define: s.Define}
	if s.Exact && s.Value == nil {
		return nil, errors.New("empty numeric expression should not have a constraint")
	}
	if s.Value != nil {
		var err error
		if n.value, err = s.Value.expression(line, &n.names); err != nil {
			return nil, err
		}
	}
	for _, name := range n.names {
		if _, numeric := vars.numbers[name]; own[name] && numeric {
			return nil, fmt.Errorf("numeric variable '%s' defined earlier in the same directive", name)
		}
		if vars.texts[name] {
			return nil, fmt.Errorf("text variable '%s' used as a number", name)
		}
	}
	var err error
	if s.Format != "" {
		n.format, err = parseFormat(s.Format)
	} else {
		n.format, err = commonFormat(n.names, vars)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case n.define == "@LINE":
		return nil, errors.New("definition of pseudo numeric variable unsupported")
	case n.define != "" && vars.texts[n.define]:
		return nil, fmt.Errorf("string variable with name '%s' already exists", n.define)
	case n.define != "":
		if previous, ok := vars.numbers[n.define]; ok && previous.verb != n.format.verb {
			return nil, fmt.Errorf("format of '%s' differs from its previous definition", n.define)
		}
		vars.numbers[n.define], own[n.define] = n.format, true
	}
	return n, nil
}

// commonFormat is the format of the variables of an expression without a format of its own.
func commonFormat(names []string, vars symbols) (format, error) {
	result, from := format{verb: 'u'}, ""
	for _, name := range names {
		f, ok := vars.numbers[name]
		if !ok {
			continue // undefined: an error when it is used
		}
		if from != "" && f.verb != result.verb {
			return f, fmt.Errorf("implicit format conflict between '%s' (%%%c) and '%s' (%%%c), need an explicit format specifier",
				from, result.verb, name, f.verb)
		}
		result, from = f, name
	}
	return result, nil
}

func constant(x *big.Int) expression {
	return func(*variables) (*big.Int, error) { return x, nil }
}

func lookup(name string) expression {
	return func(v *variables) (*big.Int, error) {
		if x, ok := v.numbers[name]; ok {
			return x, nil
		}
		return nil, undefined(name)
	}
}

// expression compiles a sum and adds the variables in it to names.
func (s *sumSyntax) expression(line int, names *[]string) (expression, error) {
	sum, err := s.First.expression(line, names)
	if err != nil {
		return nil, err
	}
	for _, addend := range s.Rest {
		term, err := addend.Term.expression(line, names)
		if err != nil {
			return nil, err
		}
		function := functions["add"]
		if addend.Sign == "-" {
			function = functions["sub"]
		}
		sum = apply(function, sum, term)
	}
	return sum, nil
}

func (t *termSyntax) expression(line int, names *[]string) (expression, error) {
	switch {
	case t.Integer != "":
		x, ok := new(big.Int).SetString(t.Integer, 0)
		if !ok { // 08
			if x, ok = new(big.Int).SetString(t.Integer, 10); !ok {
				return nil, fmt.Errorf("invalid number %s", t.Integer)
			}
		}
		return constant(x), nil
	case t.Name == "@LINE":
		return constant(big.NewInt(int64(line))), nil
	case t.Name != "":
		*names = append(*names, t.Name)
		return lookup(t.Name), nil
	case t.Sum != nil:
		return t.Sum.expression(line, names)
	}
	function, ok := functions[t.Call.Function]
	if !ok {
		return nil, fmt.Errorf("call to undefined function '%s'", t.Call.Function)
	}
	if len(t.Call.Arguments) != 2 {
		return nil, fmt.Errorf("function '%s' takes 2 arguments but %d given", t.Call.Function, len(t.Call.Arguments))
	}
	var arguments [2]expression
	for i, a := range t.Call.Arguments {
		var err error
		if arguments[i], err = a.expression(line, names); err != nil {
			return nil, err
		}
	}
	return apply(function, arguments[0], arguments[1]), nil
}

func apply(function func(x, y *big.Int) (*big.Int, error), a, b expression) expression {
	return func(v *variables) (*big.Int, error) {
		x, err := a(v)
		if err != nil {
			return nil, err
		}
		y, err := b(v)
		if err != nil {
			return nil, err
		}
		return function(x, y)
	}
}

// functions are those of two arguments that expressions may call; + and - are the first two.
var functions = map[string]func(x, y *big.Int) (*big.Int, error){
	"add": func(x, y *big.Int) (*big.Int, error) { return new(big.Int).Add(x, y), nil },
	"sub": func(x, y *big.Int) (*big.Int, error) { return new(big.Int).Sub(x, y), nil },
	"mul": func(x, y *big.Int) (*big.Int, error) { return new(big.Int).Mul(x, y), nil },
	"div": func(x, y *big.Int) (*big.Int, error) {
		if y.Sign() == 0 {
			return nil, errors.New("division by zero")
		}
		return new(big.Int).Quo(x, y), nil
	},
	"min": func(x, y *big.Int) (*big.Int, error) {
		if x.Cmp(y) < 0 {
			return x, nil
		}
		return y, nil
	},
	"max": func(x, y *big.Int) (*big.Int, error) {
		if x.Cmp(y) > 0 {
			return x, nil
		}
		return y, nil
	},
}
