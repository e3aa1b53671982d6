package parser

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// bool takes true or false.
func (p *parser) bool() bool {
	start := p.pos
	switch p.word() {
	case "true":
		return true
	case "false":
		return false
	}
	p.pos = start
	p.fail("expects true or false")
	return false
}

// number takes an integer or a decimal.
func (p *parser) number() float64 {
	p.space()
	if p.pos < len(p.src) {
		kind, text, end, msg := scanToken(p.src, p.pos)
		if msg == "" && (kind == tokenInt || kind == tokenDecimal || text == "inf" || text == "nan") {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				p.pos = end
				return v
			}
			p.fail("Constant is out of range for double: %s", text)
		}
	}
	p.fail("expects a number")
	return 0
}

// float32 takes a number that fits a float32.
func (p *parser) float32() float32 {
	p.space()
	at := p.pos
	v := p.number()
	if math.Abs(v) > math.MaxFloat32 && !math.IsInf(v, 0) {
		p.failAt(at, "value out of range for float")
	}
	return float32(v)
}

// int32 takes an integer that fits an int32.
func (p *parser) int32() int32 {
	p.space()
	at := p.pos
	v := p.int()
	if v != int64(int32(v)) {
		p.failAt(at, "value out of range for int32_t")
	}
	return int32(v)
}

// list takes `{item, item, ...}`, calling item at each.
func (p *parser) list(item func()) {
	p.listEnding("expects a list to end with kRbrace", item)
}

// listEnding is list with a message of its own for a missing end.
func (p *parser) listEnding(end string, item func()) {
	p.expect('{', "expects '{' at the beginning of a list")
	if p.accept('}') {
		return
	}
	for {
		item()
		if !p.accept(',') {
			break
		}
	}
	p.expect('}', end)
}

// intList takes `{1,0}`. An empty list is nil.
func (p *parser) intList() (v []int64) {
	p.list(func() { v = append(v, p.int()) })
	return v
}

// intLists takes `{{0,1},{2,3}}`.
func (p *parser) intLists() (v [][]int64) {
	p.list(func() { v = append(v, p.intList()) })
	return v
}

// boolList takes `{true,false}`.
func (p *parser) boolList() []bool {
	v := []bool{}
	p.list(func() { v = append(v, p.bool()) })
	return v
}

// shapeIndex takes `{}` or `{i, j}`, a trailing comma allowed.
func (p *parser) shapeIndex() hlo.ShapeIndex {
	index := hlo.ShapeIndex{}
	p.expect('{', "Expects '{' at the start of ShapeIndex")
	for p.peek() != '}' {
		index = append(index, p.int())
		if !p.accept(',') {
			break
		}
	}
	p.expect('}', "Expects '}' at the end of ShapeIndex")
	return index
}

// shapeList takes `{f32[2]{0}, f32[3]{0}}`.
func (p *parser) shapeList() *hlo.ShapeList {
	l := new(hlo.ShapeList)
	p.list(func() { l.Shapes = append(l.Shapes, p.shape()) })
	return l
}

// padding takes `lo_hi_interior` per dimension, joined by x. A scalar's padding is not written at all.
func (p *parser) padding() []hlo.PaddingDim {
	p.space()
	end := skipPad(p.src, p.pos)
	if end == 0 {
		p.fail("expects padding config")
	}
	text := p.src[p.pos:end]
	dims := make([]hlo.PaddingDim, 0, strings.Count(text, "x")+1)
	for dim := range strings.SplitSeq(text, "x") {
		v := p.joined(dim, '_')
		d := hlo.PaddingDim{Low: v[0], High: v[1]}
		if len(v) > 2 {
			d.Interior = v[2]
		}
		dims = append(dims, d)
	}
	p.pos = end
	return dims
}

// joined reads the integers of a token that sep joins.
func (p *parser) joined(text string, sep byte) []int64 {
	var v []int64
	for part := range strings.SplitSeq(text, string(sep)) {
		n, _, msg := scanInt(part, 0)
		if msg != "" {
			p.fail("%s", msg)
		}
		v = append(v, n)
	}
	return v
}

// slices takes `{[start:limit:stride], [start:limit]}`.
func (p *parser) slices() []hlo.SliceDim {
	dims := []hlo.SliceDim{}
	const what = "expects [start:limit:step] or [start:limit]"
	p.list(func() {
		p.expect('[', what)
		d := hlo.SliceDim{Start: p.int(), Stride: 1}
		p.expect(':', what)
		d.Limit = p.int()
		if p.accept(':') {
			d.Stride = p.int()
		}
		p.expect(']', what)
		dims = append(dims, d)
	})
	return dims
}

// precisions takes `{high,default}`.
func (p *parser) precisions() (v hlo.PrecisionConfig) {
	p.list(func() {
		var one hlo.Precision
		p.enumInto(&one, "precision", true)
		v = append(v, one)
	})
	return v
}

// enumWhat is what an enumeration is called in messages, by attribute.
var enumWhat = map[hlo.AttrKey]string{
	"kind": "fusion kind", "direction": "comparison direction", "type": "comparison type", "fft_type": "fft type",
	"padding_type": "padding type", "distribution": "random distribution", "convolution_kind": "convolution kind",
	"mode": "collective op group mode", "schedule": "custom-call schedule", "api_version": "custom-call API version",
	"algorithm": "algorithm", "transpose_a": "transpose",
}

// enum reads an enumerated attribute into v.
func (p *parser) enum(v reflect.Value, f *hlo.AttrField) {
	what := enumWhat[f.Key]
	if what == "" {
		what = string(f.Key)
	}
	if _, ok := v.Interface().(hlo.RandomAlgorithm); ok {
		what = "random algorithm"
	}
	p.enumInto(v.Addr().Interface().(hlo.Enum), what, f.Fold)
}

// unspecifiedVersion is what XLA prints for the custom calls of its client that name no version, TensorFlow's among them, and does not read. It
// calls such a call as one of the original version.
const unspecifiedVersion = "API_VERSION_UNSPECIFIED"

// enumInto reads one of the spellings of dst, a pointer to an enumeration.
func (p *parser) enumInto(dst hlo.Enum, what string, fold bool) {
	p.space()
	at := p.pos
	word := p.word()
	if word == "" {
		p.fail("expects %s", what)
	}
	names := dst.EnumNames()
	for i, n := range names {
		if n != "" && (n == word || fold && strings.EqualFold(n, word)) {
			reflect.ValueOf(dst).Elem().SetUint(uint64(i))
			return
		}
	}
	if v, ok := dst.(*hlo.APIVersion); ok && word == unspecifiedVersion {
		*v = hlo.APIOriginal
		return
	}
	p.failHint(at, didYouMean(word, names), "expects %s but sees: %s, error: one of %s", what, word, nonEmpty(names))
}

func nonEmpty(names []string) string {
	var b strings.Builder
	for _, n := range names {
		if n == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(n)
	}
	return b.String()
}

// convDims takes `lhs_rhs->out` (hlo-text section 5.6).
func (p *parser) convDims() *hlo.ConvDims {
	p.space()
	end := skipDimLabels(p.src, p.pos)
	if end == 0 || !strings.Contains(p.src[p.pos:end], "->") {
		p.fail("expects dim labels pattern, e.g., 'bf0_0io->0bf'")
	}
	text := p.src[p.pos:end]
	operands, out, _ := strings.Cut(text, "->")
	lhs, rhs, _ := strings.Cut(operands, "_")
	d := new(hlo.ConvDims)
	var l, r, o dimLabels
	if msg := l.parse(lhs, 'b', 'f', "lhs", "bf"); msg != "" {
		p.fail("%s", msg)
	}
	if msg := r.parse(rhs, 'i', 'o', "rhs", "io"); msg != "" {
		p.fail("%s", msg)
	}
	if msg := o.parse(out, 'b', 'f', "output", "bf"); msg != "" {
		p.fail("%s", msg)
	}
	if len(l.spatial) != len(r.spatial) || len(l.spatial) != len(o.spatial) {
		p.fail("lhs, rhs, and output must have same number of spatial dimensions")
	}
	d.InputBatch, d.InputFeature, d.InputSpatial, d.InputUnknown = l.first, l.second, l.spatial, l.unknown
	d.KernelInput, d.KernelOutput, d.KernelSpatial, d.KernelUnknown = r.first, r.second, r.spatial, r.unknown
	d.OutputBatch, d.OutputFeature, d.OutputSpatial, d.OutputUnknown = o.first, o.second, o.spatial, o.unknown
	p.pos = end
	return d
}

// dimLabels is one part of a dim labels token.
type dimLabels struct {
	first, second    int64
	spatial, unknown []int64
}

// parse reads text, in which the letters a and b label the two dimensions that are not spatial.
func (d *dimLabels) parse(text string, a, b byte, part, letters string) string {
	d.first, d.second = -1, -1
	d.spatial = make([]int64, 0, len(text))
	count := 0
	for i := range len(text) {
		if c := text[i]; class[c]&classDigit != 0 {
			count++
		}
	}
	d.spatial = make([]int64, count)
	for i := range d.spatial {
		d.spatial[i] = -1
	}
	for i := range len(text) {
		place := &d.first
		switch c := text[i]; {
		case c == '?':
			d.unknown = append(d.unknown, int64(i))
			continue
		case c == a:
		case c == b:
			place = &d.second
		case class[c]&classDigit != 0:
			if int(c-'0') >= count {
				return fmt.Sprintf("expects [0-%d%s?] in %s dimension numbers", count-1, letters, part)
			}
			place = &d.spatial[c-'0']
		default:
			return fmt.Sprintf("expects [0-%d%s?] in %s dimension numbers", count-1, letters, part)
		}
		if *place >= 0 {
			return fmt.Sprintf("expects unique %s dimension numbers, but sees %s", part, text)
		}
		*place = int64(i)
	}
	if d.first < 0 || d.second < 0 {
		return fmt.Sprintf("expects %s dimension numbers to have %c and %c, but sees %s", part, a, b, text)
	}
	return ""
}
