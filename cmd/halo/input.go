package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kind is what a file holds, told by its content; a name only decides between texts.
type kind int

const (
	hloText kind = iota
	hloProto
	befFile
	hostText
)

// input is one file to work on.
type input struct {
	source
	data []byte // gunzipped
	kind kind

	mapped  bool // data is the file itself
	lenient bool // see readFlags
}

// source is where an input comes from.
type source struct {
	name string // as it is opened, "-" for standard input
	rel  string // its place in a folder of results: the path below the directory that was named, else the last part of the name
}

// maxInput bounds what a file, once unpacked, may hold.
const maxInput = 8 << 30

// extensions of the files that are taken from a directory. Texts with another extension are taken if they begin as XLA's dumps do.
var extensions = []string{".hlo", ".pb", ".hlo.gz", ".pb.gz", ".mlir", ".bef"}

// expand lists the files that the arguments name: files as they are, directories by what they hold, "-" for standard input.
func expand(args []string) ([]source, error) {
	var files []source
	for i, a := range args {
		if a == "-" {
			if slices.Contains(args[:i], a) {
				return nil, usageError{errors.New("standard input, -, can be read only once")}
			}
			files = append(files, source{a, "stdin.hlo"})
			continue
		}
		// What cannot be opened is reported when it is read, like any other broken input.
		if info, err := os.Stat(a); err != nil || !info.IsDir() {
			files = append(files, source{a, filepath.Base(a)})
			continue
		}
		found, err := programs(a)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// programs lists the programs below a directory, sorted by path.
func programs(dir string) ([]source, error) {
	var files []source
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isProgram(path) {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, source{path, rel})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: error: no programs in this directory: looked for %s, and .txt that begins with HloModule",
			dir, strings.Join(extensions, ", "))
	}
	return files, nil
}

// isProgram tells the programs of a directory from other files. XLA dumps modules, and much else, as .txt.
func isProgram(path string) bool {
	if slices.ContainsFunc(extensions, func(x string) bool { return strings.HasSuffix(path, x) }) {
		return true
	}
	if !strings.HasSuffix(path, ".txt") {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const first = "HloModule "
	head := make([]byte, len(first))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == first
}

// read loads a file and finds out what it is.
func (e *env) read(s source) (*input, error) {
	if e.mapInputs && s.name != "-" {
		if data, ok := mapFile(s.name); ok {
			if !isGzip(data) && !bytes.HasPrefix(data, byteOrderMark) {
				return &input{s, data, detect(s.name, data), true, e.lenient}, nil
			}
			unmap(data)
		}
	}
	var data []byte
	var err error
	if s.name == "-" {
		data, err = io.ReadAll(e.stdin)
	} else {
		data, err = os.ReadFile(s.name)
	}
	if err == nil && isGzip(data) {
		data, err = gunzip(data, unpackLimit())
	}
	if err == nil {
		err = foreign(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", s.name, unwrapPath(err))
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	return &input{s, data, detect(s.name, data), false, e.lenient}, nil
}

// byteOrderMark is what some editors begin a text with.
var byteOrderMark = []byte("\ufeff")

func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// foreign tells files that hold no program, or not in a form that is read, by their first bytes.
func foreign(data []byte) error {
	for head, what := range map[string]string{
		"\xff\xfe": "the text is UTF-16; want UTF-8", "\xfe\xff": "the text is UTF-16; want UTF-8",
		"\x7fELF": "an ELF file, not a program",
		"ML\xefR": "MLIR bytecode, not HLO: StableHLO becomes HLO with stablehlo-translate",
	} {
		if bytes.HasPrefix(data, []byte(head)) {
			return errors.New(what)
		}
	}
	return nil
}

// unpackLimit is how much a packed file may hold: a module takes a few times its text.
func unpackLimit() int64 {
	if memory := available(); memory > 0 {
		return min(maxInput, memory/4)
	}
	return maxInput
}

// gunzip unpacks at most limit bytes.
func gunzip(data []byte, limit int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	var out []byte
	if err == nil {
		out, err = io.ReadAll(io.LimitReader(r, limit+1))
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("gzip: the file is cut short")
	case err == nil && int64(len(out)) > limit:
		err = fmt.Errorf("unpacks to more than %d bytes", limit)
	}
	return out, err
}

func detect(name string, data []byte) kind {
	name = strings.TrimSuffix(name, ".gz")
	switch {
	case bytes.HasPrefix(data, []byte{0x0b, 0xef}) || strings.HasSuffix(name, ".bef"):
		return befFile
	case beginsAsText(data):
		return hloText
	case strings.HasSuffix(name, ".mlir"):
		return hostText
	case isBinary(data) || strings.HasSuffix(name, ".pb"):
		return hloProto
	case name == "-" && looksLikeHostProgram(data):
		return hostText
	}
	return hloText
}

// beginsAsText reports whether data is HLO text whatever its name says, and whatever bytes come later: the reader tells where they are.
func beginsAsText(data []byte) bool {
	data = bytes.TrimLeft(data[:min(len(data), 4096)], " \t\r\n")
	return bytes.HasPrefix(data, []byte("HloModule")) || bytes.HasPrefix(data, []byte("ENTRY "))
}

// isBinary looks for control characters near the start: text has none, a serialized proto begins with tags and lengths.
func isBinary(data []byte) bool {
	for _, c := range data[:min(len(data), 256)] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return true
		}
	}
	return false
}

// looksLikeHostProgram tells kernel-graph text from HLO by the first line that is not a comment.
func looksLikeHostProgram(data []byte) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || bytes.HasPrefix(line, []byte("//")) {
			continue
		}
		for _, word := range []string{"func", "module", "builtin.", "\"", "#"} {
			if bytes.HasPrefix(line, []byte(word)) {
				return true
			}
		}
		return false
	}
	return false
}
