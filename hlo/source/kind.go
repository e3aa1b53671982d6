package source

import (
	"bytes"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/proto"
)

// Kind is a format of files.
type Kind uint8

// The kinds, in the order in which they are tried: each may rely on the content being none of those before it.
const (
	MLIRBytecode Kind = iota // StableHLO as bytecode, portable artifacts among it
	BEF                      // a lowered program
	Gzip                     // compressed files: see Unpack
	Zstd
	Zip
	Tar
	UTF16
	ELF
	Pickle      // Python's, in which JAX puts compiled executables
	Jaxpr       // what jax.make_jaxpr prints
	TextProto   // messages with a module as text, pbtxt
	TextOptions // other messages as text, as XLA dumps its options
	JAXExport   // what jax.export serializes
	HLOText
	StableHLOText
	HostProgram // MLIR text for TFRT's host runtime
	OtherMLIR   // MLIR text in dialects that are not read: the error has the place of the first operation
	HLOProto    // HloModuleProto, HloProto, HloSnapshot and their like

	// NumKinds is how many kinds there are.
	NumKinds = int(iota)
)

// format is what is known about a kind.
type format struct {
	noun string // with its article, for messages
	is   func(data []byte) bool
	// extensions are what such files are called when their content does not tell.
	extensions []string
	read       func(name string, data []byte, o Options) (hlo.Module, error) // nil: no module can be read from it
	remedy     string                                                        // for kinds without a reader: what to do instead
}

// formats is the table of formats.
var formats = [NumKinds]format{
	MLIRBytecode:  {noun: "MLIR bytecode", is: begins("ML\xefR"), extensions: []string{".mlirbc", ".bytecode"}, read: readBytecode},
	BEF:           {noun: "a BEF file", is: begins("\x0b\xef"), extensions: []string{".bef"}},
	Gzip:          {noun: "a gzip file", is: begins("\x1f\x8b"), extensions: []string{".gz"}},
	Zstd:          {noun: "a zstd file", is: begins("\x28\xb5\x2f\xfd"), extensions: []string{".zst"}},
	Zip:           {noun: "a zip archive", is: begins("PK\x03\x04"), extensions: []string{".zip"}},
	Tar:           {noun: "a tar archive", is: isTar, extensions: []string{".tar"}},
	UTF16:         {noun: "UTF-16 text", is: begins("\xff\xfe", "\xfe\xff"), remedy: "save it as UTF-8"},
	ELF:           {noun: "an ELF file, not a program", is: begins("\x7fELF")},
	Pickle:        {noun: "a pickle of Python", is: isPickle, remedy: "of a JAX program, take what jax.export serializes"},
	Jaxpr:         {noun: "a jaxpr of JAX", is: begins("{ lambda "), remedy: "take the text of jax.jit(f).lower(...).as_text()"},
	TextProto:     {noun: "a protocol buffer as text", is: func(data []byte) bool { return isTextProto(data) && proto.HasText(data) }, extensions: []string{".pbtxt", ".textproto", ".prototxt"}, read: readTextProto},
	TextOptions:   {noun: "a protocol buffer without a program", is: isTextProto, remedy: "give options with --debug_options_file"},
	JAXExport:     {noun: "a jax.export file", is: isExport, extensions: []string{".jax_export"}, read: readExport},
	HLOText:       {noun: "HLO text", is: isHLOText, extensions: []string{".hlo", ".txt"}, read: readText},
	StableHLOText: {noun: "StableHLO text", is: isStableHLO, read: readStableHLO},
	HostProgram:   {noun: "a host program", is: isHostProgram, extensions: []string{".mlir"}},
	OtherMLIR:     {noun: "MLIR text", is: isMLIR, read: readStableHLO},
	HLOProto:      {noun: "a serialized module", is: isProto, extensions: []string{".pb"}, read: readProto},
}

// String names the kind with its article: "a BEF file".
func (k Kind) String() string { return formats[k].noun }

// HasArgumentShapes reports whether programs of this kind may have dynamic shapes, which follow from those of the arguments.
func (k Kind) HasArgumentShapes() bool {
	return k == StableHLOText || k == MLIRBytecode || k == JAXExport
}

// Detect returns the kind of a file by its content, and by its name where the content leaves it open. Content of no known form is
// HLO text, whose reader says what is wrong with it; so is a text of nothing but comments, which would be a host program without functions.
func Detect(name string, data []byte) Kind {
	k, known := Recognise(data)
	named, ok := byName(name)
	switch {
	// Protocol buffers have no mark, and damaged files of other formats look like them.
	case known && !(ok && k == HLOProto && (named == MLIRBytecode || named == JAXExport || named == BEF) || ok && k == TextOptions && named == TextProto):
		return k
	case ok && !(named == HostProgram && len(skipSpace(data)) == 0):
		return named
	}
	return HLOText
}

// byName is the kind of files with such a name.
func byName(name string) (Kind, bool) {
	name = CutPacked(name)
	for k := range Kind(NumKinds) {
		for _, x := range formats[k].extensions {
			if strings.HasSuffix(name, x) {
				return k, true
			}
		}
	}
	return 0, false
}

// Recognise returns the kind of a file by its content alone; false if the content does not tell.
func Recognise(data []byte) (Kind, bool) {
	for k := range Kind(NumKinds) {
		if is := formats[k].is; is != nil && is(data) {
			return k, true
		}
	}
	return 0, false
}

// begins recognises files by their first bytes.
func begins(heads ...string) func([]byte) bool {
	return func(data []byte) bool {
		for _, h := range heads {
			if bytes.HasPrefix(data, []byte(h)) {
				return true
			}
		}
		return false
	}
}
