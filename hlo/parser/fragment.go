package parser

import (
	"github.com/gohalo/halo/hlo"
)

// fragment parses a stand-alone piece of the language, all of text (hlo-text section 2.10).
func fragment[T any](text string, read func(*parser) T) (v T, err error) {
	p := newParser(Config{}, "", text)
	p.guard(func() {
		v = read(p)
		if !p.atEnd() {
			p.fail("Extra content after the value")
		}
	})
	if len(p.errs) > 0 {
		var zero T
		return zero, p.errs
	}
	return v, nil
}

// ParseShape parses a shape: `f32[2,3]{1,0}`. Arrays without a layout get the default one.
func ParseShape(text string) (hlo.Shape, error) { return fragment(text, (*parser).shape) }

// ParseShapeList parses shapes in braces: `{f32[2], s32[]}`.
func ParseShapeList(text string) ([]hlo.Shape, error) {
	return fragment(text, func(p *parser) []hlo.Shape { return p.shapeList().Shapes })
}

// ParseLayout parses a layout: `{1,0:T(8,128)}`.
func ParseLayout(text string) (*hlo.Layout, error) { return fragment(text, (*parser).layout) }

// ParseSharding parses a sharding of any version: `{devices=[2,4]<=[8]}`.
func ParseSharding(text string) (*hlo.Sharding, error) { return fragment(text, (*parser).sharding) }

// ParseReplicaGroups parses replica groups of any version: `{{0,1},{2,3}}`, `[2,4]<=[8]`.
func ParseReplicaGroups(text string) (*hlo.ReplicaGroups, error) {
	return fragment(text, (*parser).replicaGroups)
}

// ParseWindow parses a window, with or without braces: `size=3x3 stride=2x2`.
func ParseWindow(text string) (*hlo.Window, error) {
	if i := skipSpace(text, 0); i >= len(text) || text[i] != '{' {
		text = "{" + text + "}"
	}
	return fragment(text, (*parser).window)
}

// ParseConvDims parses the dim labels of a convolution: `b01f_01io->b01f`.
func ParseConvDims(text string) (*hlo.ConvDims, error) { return fragment(text, (*parser).convDims) }

// ParsePadding parses the padding of pad: `0_0_1x2_3`.
func ParsePadding(text string) ([]hlo.PaddingDim, error) { return fragment(text, (*parser).padding) }

// ParseOrigin parses an original value: `{({"a"}, {"b" {1}})}`.
func ParseOrigin(text string) (*hlo.Origin, error) { return fragment(text, (*parser).origin) }

// ParseFrontendAttributes parses frontend attributes: `{key="value"}`.
func ParseFrontendAttributes(text string) (*hlo.FrontendAttributes, error) {
	return fragment(text, (*parser).frontendAttributes)
}

// ParseStatistics parses statistics: `{visualizing_index=0,nan_count=3}`.
func ParseStatistics(text string) (*hlo.Statistics, error) {
	return fragment(text, (*parser).statistics)
}

// ParseBools parses a braced list of booleans: `{true,false}`.
func ParseBools(text string) ([]bool, error) { return fragment(text, (*parser).boolList) }

// ParseLiteral parses a literal of the given shape, as `constant` has it in parentheses.
func ParseLiteral(text string, shape hlo.Shape) (*hlo.Literal, error) {
	return fragment(text, func(p *parser) *hlo.Literal {
		p.beginModule("")
		return p.literal(shape)
	})
}
