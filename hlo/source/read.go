package source

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/internal/prototext"
)

// Options say how to read. The zero value is ready to use.
type Options struct {
	Text      parser.Config // for HLO text; its LinesBefore is for all texts
	StableHLO stablehlo.Options
	MaxBytes  int64 // that a compressed file may grow to; 0 is [MaxUnpacked]
}

// KindError says that a file of this kind holds no module, or none that is read.
type KindError struct {
	Name string
	Kind Kind
}

// Error names the kind and, where there is one, the way around it.
func (e *KindError) Error() string {
	s := fmt.Sprintf("%s: error: this is %s; want HLO", e.Name, e.Kind)
	if remedy := formats[e.Kind].remedy; remedy != "" {
		s += ": " + remedy
	}
	return s
}

// Read reads the one module of a file. It is not verified. The module may share memory with data, which must not be written afterwards.
// The error begins with the name; it is a parser.ErrorList, wraps a *proto.FormatError, or is a *[KindError].
func Read(name string, data []byte, o Options) (hlo.Module, error) {
	data, err := Unpack(data, o.MaxBytes)
	if err != nil {
		return hlo.Module{}, fmt.Errorf("%s: error: %w", name, err)
	}
	return ReadKind(name, data, Detect(name, data), o)
}

// ReadKind is [Read] for content that is unpacked and whose kind is known.
func ReadKind(name string, data []byte, kind Kind, o Options) (hlo.Module, error) {
	if read := formats[kind].read; read != nil {
		return read(name, data, o)
	}
	return hlo.Module{}, &KindError{name, kind}
}

func readText(name string, data []byte, o Options) (hlo.Module, error) {
	m, err := o.Text.Parse(name, unsafe.String(unsafe.SliceData(data), len(data)))
	if err != nil {
		if n := len(Parts(HLOText, data)); n > 1 {
			return m, fmt.Errorf("%s: error: the file holds %d modules; want one", name, n)
		}
	}
	return m, err
}

func readTextProto(name string, data []byte, _ Options) (hlo.Module, error) {
	m, err := proto.DecodeText(data)
	if at := new(prototext.Error); errors.As(err, &at) {
		return m, fmt.Errorf("%s:%d:%d: error: %s", name, at.Line, at.Column, at.Message)
	} else if err != nil {
		return m, fmt.Errorf("%s: error: %w", name, err)
	}
	return m, nil
}

func readProto(name string, data []byte, _ Options) (hlo.Module, error) {
	m, err := proto.Decode(data)
	if err != nil {
		return m, fmt.Errorf("%s: error: %w", name, err)
	}
	return m, nil
}
