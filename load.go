package halo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/verifier"
)

// Module is a module that the verifier has accepted. It has all methods of hlo.Module. [Load], [Verify] and [Trust] make Modules; the
// zero Module is none.
type Module struct{ module }

type module = hlo.Module

// HLO returns the module, for functions of the packages below.
func (m Module) HLO() hlo.Module { return m.module }

// Loader reads modules from files. The zero Loader is what [Load] and its like use.
type Loader struct {
	// Shapes are those of the arguments, in the order of the program, for StableHLO programs with dynamic shapes: every shape in the program
	// follows from them. A program with static shapes must have these.
	Shapes []hlo.Shape
	// Lenient keeps unknown attributes, opcodes and values of HLO text verbatim.
	Lenient bool
	// MaxBytes bounds what a compressed file may grow to; 0 is source.MaxUnpacked.
	MaxBytes int64
}

// Load reads and verifies the module in a file: HLO text, StableHLO as text or bytecode, a file of jax.export, or a serialized
// HloModuleProto, HloProto or HloSnapshot, any of which may be compressed; the form is recognised by its content. A folder that torch_xla wrote is read
// as [LoadBundle] does, which has the arguments, too. What XLA accepts is accepted; [Module.Warnings] lists what stricter rules refuse. Errors
// carry positions: they are a parser.ErrorList, a verifier.ErrorList, a *source.KindError, or wrap a *proto.FormatError or the error of the file system.
func Load(path string) (Module, error) { return Loader{}.Load(path) }

// LoadFS is [Load] from a file system, such as one that is embedded in the program.
func LoadFS(fsys fs.FS, path string) (Module, error) { return Loader{}.LoadFS(fsys, path) }

// LoadReader is [Load] from a stream, which is read to its end. The name is for messages.
func LoadReader(name string, r io.Reader) (Module, error) { return Loader{}.LoadReader(name, r) }

// LoadBytes is [Load] from memory, which must not be written afterwards. The name is for messages.
func LoadBytes(name string, data []byte) (Module, error) { return Loader{}.LoadBytes(name, data) }

// Load is [Load] with these options.
func (l Loader) Load(path string) (Module, error) { return l.LoadFS(disk{}, path) }

// LoadFS is [LoadFS] with these options.
func (l Loader) LoadFS(fsys fs.FS, path string) (Module, error) {
	if inBundle(fsys, path) {
		b, err := l.LoadBundleFS(fsys, path)
		if err != nil {
			return Module{}, err
		}
		return b.Module, nil
	}
	data, err := fs.ReadFile(fsys, path)
	if err != nil {
		return Module{}, err
	}
	return l.LoadBytes(path, data)
}

// LoadReader is [LoadReader] with these options.
func (l Loader) LoadReader(name string, r io.Reader) (Module, error) {
	data, err := io.ReadAll(io.LimitReader(r, source.MaxUnpacked+1))
	if err != nil {
		return Module{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > source.MaxUnpacked {
		return Module{}, fmt.Errorf("%s: more than %d bytes", name, int64(source.MaxUnpacked))
	}
	return l.LoadBytes(name, data)
}

// LoadBytes is [LoadBytes] with these options.
func (l Loader) LoadBytes(name string, data []byte) (Module, error) { return l.read(name, data, nil) }

// read is LoadBytes with names for the parameters of StableHLO programs.
func (l Loader) read(name string, data []byte, parameters []string) (Module, error) {
	m, err := source.Read(name, data, source.Options{
		Text: parser.Config{Lenient: l.Lenient, KeepZeroSigns: true}, StableHLO: stablehlo.Options{Shapes: l.Shapes, Names: parameters}, MaxBytes: l.MaxBytes,
	})
	if err != nil {
		return Module{}, err
	}
	return Verify(m, verifier.Config{Profile: verifier.XLA})
}

var errNoModule = errors.New("halo: got the zero hlo.Module, want a module")

// Verify verifies a module. The error is a verifier.ErrorList. In the profile xla a module may break one rule that XLA did not have
// when many dumps were written, and that does not bear on what a module means: that asynchronous computations of several instructions
// are not on the main thread.
func Verify(m hlo.Module, cfg verifier.Config) (Module, error) {
	if m.IsZero() {
		return Module{}, errNoModule
	}
	findings := verifier.Verify(m, cfg)
	if cfg.Profile != verifier.XLA || !meaningIsClear(findings) {
		if err := findings.Err(); err != nil {
			return Module{}, err
		}
	}
	return Module{m}, nil
}

func meaningIsClear(findings verifier.ErrorList) bool {
	for _, f := range findings {
		if f.Severity == verifier.SeverityError && f.Rule != "ASYNC-30" {
			return false
		}
	}
	return true
}

// Warnings lists what the profile doc refuses in a module that the profile xla accepts, each with the id of its rule: what the first document on
// asynchronous HLO asks for and XLA does not, say. [Load] accepts what XLA does; who wants to know more asks here. It verifies the module
// at each call.
func (m Module) Warnings() verifier.ErrorList {
	if m.IsZero() {
		return nil
	}
	return asWarnings(verifier.Verify(m.module, verifier.Config{}))
}

// asWarnings is findings of which none forbids anything.
func asWarnings(findings verifier.ErrorList) verifier.ErrorList {
	list := make(verifier.ErrorList, len(findings))
	for i, f := range findings {
		warning := *f
		warning.Severity = verifier.SeverityWarning
		list[i] = &warning
	}
	return list
}

// Trust takes a module as verified that comes from a place that verifies, such as a pass that is checked. A caller that is wrong about that
// gets errors of lowering, or wrong numbers.
func Trust(m hlo.Module) Module { return Module{m} }
