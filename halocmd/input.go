package halocmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/source"
)

// input is one file to work on.
type input struct {
	place
	data []byte // gunzipped
	kind source.Kind

	mapped  bool        // data is the file itself
	lenient bool        // see readFlags
	shapes  []hlo.Shape // of the arguments, for programs with dynamic shapes; nil when they are not known
}

// place is where an input comes from.
type place struct {
	name string // as it is opened, "-" for standard input
	rel  string // its place in a folder of results: the path below the directory that was named, else the last part of the name
}

// extensions of the files that are taken from a directory. Files with other names are taken if they begin as a program does.
var extensions = []string{".hlo", ".pb", ".hlo.gz", ".pb.gz", ".mlir", ".mlirbc", ".jax_export", ".bef"}

// expand lists the files that the arguments name: files as they are, directories by what they hold, "-" for standard input.
func (e *env) expand(args []string) ([]place, error) {
	var files []place
	for i, a := range args {
		if a == "-" {
			if slices.Contains(args[:i], a) {
				return nil, usageError{errors.New("standard input, -, can be read only once")}
			}
			files = append(files, place{a, "stdin.hlo"})
			continue
		}
		// What cannot be opened is reported when it is read, like any other broken input.
		if info, err := os.Stat(a); err != nil || !info.IsDir() {
			files = append(files, place{a, filepath.Base(a)})
			continue
		}
		found, err := e.programs(a)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// programs lists the programs below a directory, sorted by path, and says how many other files there are.
func (e *env) programs(dir string) ([]place, error) {
	var files []place
	var others []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if isProgram(path) {
			files = append(files, place{path, rel})
		} else {
			others = append(others, rel)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: error: no programs in this directory: looked for %s, and files that begin as a program does",
			dir, strings.Join(extensions, ", "))
	}
	if len(others) > 0 {
		fmt.Fprintf(e.stderr, "%s: note: skipped %s without a program: %s\n", dir, count(len(others), "file", "files"), abridged(others))
	}
	return files, nil
}

// abridged lists a few names.
func abridged(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// isProgram reports whether a file of a directory holds a program. XLA dumps modules, and much else, as .txt. Binary files need an extension:
// anything may be a protocol buffer.
func isProgram(path string) bool {
	if slices.ContainsFunc(extensions, func(x string) bool { return strings.HasSuffix(path, x) }) {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16<<10)
	n, _ := io.ReadFull(f, head)
	kind, ok := source.Recognise(head[:n])
	return ok && (kind == source.HLOText || kind == source.StableHLOText || kind == source.MLIRBytecode || kind == source.BEF)
}

// read loads a file and finds out what it is.
func (e *env) read(s place) (*input, error) {
	if e.mapInputs && s.name != "-" {
		if data, ok := mapFile(s.name); ok {
			if source.IsPlain(data) {
				return &input{s, data, source.Detect(s.name, data), true, e.lenient, nil}, nil
			}
			unmap(data)
		}
	}
	var data []byte
	var err error
	limit := inputLimit()
	if s.name == "-" {
		data, err = readAll(e.stdin, limit)
	} else {
		data, err = readFile(s.name, limit)
	}
	if err == nil {
		data, err = source.Unpack(data, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", s.name, unwrapPath(err))
	}
	return &input{s, data, source.Detect(s.name, data), false, e.lenient, nil}, nil
}

// inputLimit is how much a file may hold, once it is unpacked: a module takes a few times its text.
func inputLimit() int64 { return min(source.MaxUnpacked, available()/4) }

// readFile reads a file, which may be a pipe or a device that never ends.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if info.Size() > limit {
			return nil, tooLong(limit)
		}
		data := make([]byte, info.Size())
		n, err := io.ReadFull(f, data)
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			err = nil // it has become shorter
		}
		return data[:n], err
	}
	return readAll(f, limit)
}

// maxStream bounds what does not say how long it is.
const maxStream = 1 << 30

func readAll(r io.Reader, limit int64) ([]byte, error) {
	limit = min(limit, maxStream)
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, tooLong(limit)
	}
	return data, err
}

func tooLong(limit int64) error {
	return fmt.Errorf("more than %d bytes", limit)
}
