package npz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/internal/parsing"
)

const magic = "\x93NUMPY"

// maxHeader bounds the length of the dictionary. NumPy itself refuses more than 10,000 bytes by default.
const maxHeader = 1 << 16

// header is what precedes the data of an array.
type header struct {
	item         item
	fortranOrder bool
	shape        []int64
	length       int64 // in the file, up to the first byte of data
}

// dictionary is the grammar of a header: a Python dictionary of three entries.
type dictionary struct {
	Entries []*entry `parser:"'{' ( @@ ( ',' @@ )* ','? )? '}'"`
}

type entry struct {
	Key        string `parser:"@String ':'"`
	Text       string `parser:"( @String"`
	Bool       string `parser:"| @( 'True' | 'False' )"`
	Tuple      *tuple `parser:"| @@"`
	Structured bool   `parser:"| @'[' )"`
}

type tuple struct {
	Numbers []string `parser:"'(' ( @Number ( ',' @Number )* ','? )? ')'"`
}

var dictionaryParser = sync.OnceValue(func() *parsing.Parser[*dictionary] {
	return parsing.MustBuild[*dictionary](participle.Lexer(lexer.MustStateful(lexer.Rules{
		"Root": {
			{Name: "blank", Pattern: `[ \t\n]+`},
			{Name: "String", Pattern: `'[^'\\]*'|"[^"\\]*"`},
			{Name: "Number", Pattern: `-?[0-9]+L?`}, // Python 2 wrote long integers with an L
			{Name: "Word", Pattern: `[A-Za-z]+`},
			{Name: "Punctuation", Pattern: `[{}():,\[\]]`},
		},
	})))
})

// readHeader reads up to the first byte of data.
func readHeader(r io.Reader) (header, error) {
	var fixed [12]byte
	if _, err := io.ReadFull(r, fixed[:10]); err != nil {
		return header{}, fmt.Errorf("no npy header: %w", unexpected(err))
	}
	if string(fixed[:6]) != magic {
		return header{}, errors.New("not an npy file")
	}
	start, length := int64(10), int64(binary.LittleEndian.Uint16(fixed[8:]))
	switch fixed[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, fixed[10:]); err != nil {
			return header{}, fmt.Errorf("npy header: %w", unexpected(err))
		}
		start, length = 12, int64(binary.LittleEndian.Uint32(fixed[8:]))
	default:
		return header{}, fmt.Errorf("npy version %d.%d is not supported", fixed[6], fixed[7])
	}
	if length > maxHeader {
		return header{}, fmt.Errorf("npy header of %d bytes is too long", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return header{}, fmt.Errorf("npy header: %w", unexpected(err))
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return header{}, fmt.Errorf("npy header: %w", err)
	}
	h.length = start + length
	return h, nil
}

// parseHeader reads the dictionary. Keys come in any order, each once.
func parseHeader(text string) (h header, err error) {
	d, err := dictionaryParser().ParseString("", text)
	if err != nil {
		return h, fmt.Errorf("%w in %q", err, text[:min(len(text), 200)])
	}
	seen := map[string]bool{}
	for _, e := range d.Entries {
		key := unquote(e.Key)
		if seen[key] {
			return h, fmt.Errorf("%s is given twice", key)
		}
		seen[key] = true
		switch {
		case key == "descr" && e.Text != "":
			h.item, err = parseDescr(unquote(e.Text))
		case key == "fortran_order" && e.Bool != "":
			h.fortranOrder = e.Bool == "True"
		case key == "shape" && e.Tuple != nil:
			h.shape, err = e.Tuple.shape()
		default:
			err = fmt.Errorf("unexpected entry %s", key)
		}
		if err != nil {
			return h, err
		}
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, fmt.Errorf("%s is missing", key)
		}
	}
	return h, nil
}

func (t *tuple) shape() ([]int64, error) {
	shape := make([]int64, len(t.Numbers))
	for i, number := range t.Numbers {
		n, err := strconv.ParseInt(strings.TrimSuffix(number, "L"), 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("invalid dimension %s", number)
		}
		shape[i] = n
	}
	return shape, nil
}

func unquote(text string) string { return text[1 : len(text)-1] }

// bytes is the header as NumPy writes it: spaces and a line feed make its length a
// multiple of 64.
func (h header) bytes() []byte {
	var shape strings.Builder
	for i, n := range h.shape {
		if i > 0 {
			shape.WriteString(", ")
		}
		fmt.Fprint(&shape, n)
	}
	if len(h.shape) == 1 {
		shape.WriteByte(',')
	}
	text := fmt.Sprintf("{'descr': '%v', 'fortran_order': False, 'shape': (%v), }", h.item, shape.String())

	version, lengthSize := byte(1), 2
	pad := func() int { return 63 - (len(magic)+2+lengthSize+len(text))%64 }
	if len(text)+pad()+1 > 0xffff {
		version, lengthSize = 2, 4
	}
	padding := pad()
	out := append([]byte(magic), version, 0)
	length := len(text) + padding + 1
	if version == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(length))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(length))
	}
	out = append(out, text...)
	out = append(out, strings.Repeat(" ", padding)...)
	return append(out, '\n')
}

// unexpected turns a clean end of input, where more is needed, into an error that says so.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
