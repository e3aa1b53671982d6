package parser

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// windowSyntax is a window: sub-attributes separated by spaces.
type windowSyntax struct {
	Items []windowItem `parser:"'{' @@* '}'"`
}

type windowItem struct {
	Key   string `parser:"@Key"`
	Value string `parser:"@(DxD | Pad | Int)"`
}

var windowGrammar = newGrammar[*windowSyntax]("window").withPlain(plainWindow)

// plainWindow reads the window that text is, if it is one; what is wrong with another is the grammar's to say.
func plainWindow(text string) (*windowSyntax, bool) {
	lexer, w := valueLexer{s: text}, new(windowSyntax)
	if t, err := lexer.Next(); err != nil || t.Value != "{" {
		return nil, false
	}
	for {
		key, err := lexer.Next()
		if err != nil {
			return nil, false
		}
		if key.Type != tokenKey {
			end, err := lexer.Next()
			return w, key.Type == tokenPunct && key.Value == "}" && err == nil && end.EOF()
		}
		value, err := lexer.Next()
		if err != nil || value.Type != tokenDxD && value.Type != tokenPad && value.Type != tokenInt {
			return nil, false
		}
		w.Items = append(w.Items, windowItem{key.Value, value.Value})
	}
}

// window takes `{size=3x3 stride=1x2 ...}`.
func (p *parser) window() *hlo.Window {
	p.space()
	at := p.pos
	raw := p.group()
	if raw[0] != '{' {
		p.failAt(at, "expected '{' to start window attribute")
	}
	return cached(p, windowGrammar, raw, at, p.buildWindow)
}

var windowKeys = []string{"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"}

func (p *parser) buildWindow(s *windowSyntax, at int) *hlo.Window {
	at++ // mistakes are shown behind the bracket
	r := valueReader{p, at}
	values := make(map[string][]int64)
	var pads [][2]int64
	for _, it := range s.Items {
		if !slices.Contains(windowKeys, it.Key) {
			r.failHint(at, didYouMean(it.Key, windowKeys), "unexpected attribute name: %s", it.Key)
		}
		if values[it.Key] != nil || it.Key == "pad" && pads != nil {
			r.bad("sub-attribute '%s=' already exists", it.Key)
		}
		if it.Key == "pad" {
			pads = r.windowPads(it.Value)
			continue
		}
		values[it.Key] = r.joined(it.Value, 'x')
	}
	rank := len(values["size"])
	w := &hlo.Window{Dims: make([]hlo.WindowDim, rank)}
	for i := range w.Dims {
		w.Dims[i] = hlo.DefaultWindowDim(values["size"][i])
	}
	sized := func(key string, n int) {
		if n != rank {
			r.bad("expects '%s=' has the same size as 'size='", key)
		}
	}
	for key, v := range values {
		sized(key, len(v))
		for i, n := range v {
			d := &w.Dims[i]
			switch key {
			case "stride":
				d.Stride = n
			case "lhs_dilate":
				d.BaseDilation = n
			case "rhs_dilate":
				d.WindowDilation = n
			case "rhs_reversal":
				d.Reversal = n == 1
			}
		}
	}
	if pads != nil {
		sized("pad", len(pads))
		for i, v := range pads {
			w.Dims[i].PadLow, w.Dims[i].PadHigh = v[0], v[1]
		}
	}
	return w
}

// windowPads reads `low_high` per dimension, joined by x.
func (r valueReader) windowPads(text string) [][2]int64 {
	if skipPad(text, 0) != len(text) {
		r.bad("expects window pad pattern, e.g., '0_0x3_3'")
	}
	pads := [][2]int64{}
	rest := text
	for rest != "" {
		end := skipSigned(rest, 0)
		low, _, _ := scanInt(rest, 0)
		next := skipSigned(rest, end+1)
		high, _, _ := scanInt(rest, end+1)
		if next < len(rest) && rest[next] != 'x' {
			r.bad("expects padding_low and padding_high separated by '_'")
		}
		pads = append(pads, [2]int64{low, high})
		if next == len(rest) {
			break
		}
		rest = rest[next+1:]
	}
	return pads
}
