package halocmd

import (
	"errors"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/verifier"
)

// moduleOptions say how a module is read.
type moduleOptions struct {
	mixed   bool // accept operands of different floating-point widths
	profile string
	fill    bool // give elided constants XLA's filler
}

// readFlags say how texts are read, for the commands that look at programs and do not run them.
type readFlags struct {
	Lenient    bool `help:"Keep unrecognised attributes, opcodes and attribute values verbatim."`
	shapeFlags `embed:""`
}

// shapeFlags make the shapes of StableHLO programs known.
type shapeFlags struct {
	Shapes string `help:"Shapes of the arguments, for StableHLO programs with dynamic shapes." placeholder:"f32[5,4],f32[8]"`
}

// AfterApply reads the shapes.
func (f *shapeFlags) AfterApply(e *env) error {
	if f.Shapes == "" {
		return nil
	}
	shapes, err := parser.ParseShapeList("{" + f.Shapes + "}")
	if err != nil {
		return usageError{fmt.Errorf("--shapes %s: want shapes with commas between them: f32[5,4],f32[8]", f.Shapes)}
	}
	e.shapes = shapes
	return nil
}

// AfterApply hands the flags to what reads texts.
func (f *readFlags) AfterApply(e *env) error {
	e.lenient = f.Lenient
	return f.shapeFlags.AfterApply(e)
}

// loadModule reads and verifies the one module of a file.
func (e *env) loadModule(in *input, o moduleOptions) (hlo.Module, error) {
	m, err := e.verifiedModule(in, o)
	return m.HLO(), err
}

// verifiedModule reads and verifies the one module of a file. Whatever only the profile xla accepts is a warning.
func (e *env) verifiedModule(in *input, o moduleOptions) (halo.Module, error) {
	m, err := parseModule(in)
	if err != nil {
		return halo.Module{}, err
	}
	if o.fill {
		if m, err = hlo.FillElided(m); err != nil {
			return halo.Module{}, fmt.Errorf("%s: error: %w", in.name, err)
		}
	}
	xla := verifierConfig(verifier.Config{Profile: verifier.XLA, MixedPrecision: o.mixed})
	if o.profile == "xla" {
		return halo.Verify(m, xla)
	}
	v, strict := halo.Verify(m, verifierConfig(verifier.Config{MixedPrecision: o.mixed}))
	if strict == nil {
		return v, nil
	}
	if v, err = halo.Verify(m, xla); err == nil {
		var findings verifier.ErrorList
		errors.As(strict, &findings)
		for _, f := range findings {
			warning := *f
			warning.Severity = verifier.SeverityWarning
			fmt.Fprintln(e.stderr, describeFinding(&warning, in))
		}
	}
	return v, err
}

// parseModule reads the one module of a file.
func parseModule(in *input) (hlo.Module, error) {
	expectModule(in.data)
	o := source.Options{Text: parser.Config{Lenient: in.lenient, KeepZeroSigns: true, LinesBefore: in.linesBefore}, StableHLO: stablehlo.Options{Shapes: in.shapes}}
	if in.saved != nil {
		o.StableHLO.Shapes, o.StableHLO.Names = in.saved.Arguments(in.shapes), in.saved.Names()
	}
	return source.ReadKind(in.name, in.data, in.kind, o)
}
