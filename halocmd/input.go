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

// extensions of the files that are taken from a directory. Texts with another extension are taken if they begin as XLA's dumps do.
var extensions = []string{".hlo", ".pb", ".hlo.gz", ".pb.gz", ".mlir", ".bef"}

// expand lists the files that the arguments name: files as they are, directories by what they hold, "-" for standard input.
func expand(args []string) ([]place, error) {
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
		found, err := programs(a)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// programs lists the programs below a directory, sorted by path.
func programs(dir string) ([]place, error) {
	var files []place
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isProgram(path) {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, place{path, rel})
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
	if s.name == "-" {
		data, err = io.ReadAll(e.stdin)
	} else {
		data, err = os.ReadFile(s.name)
	}
	if err == nil {
		data, err = source.Unpack(data, unpackLimit())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", s.name, unwrapPath(err))
	}
	return &input{s, data, source.Detect(s.name, data), false, e.lenient, nil}, nil
}

// unpackLimit is how much a packed file may hold: a module takes a few times its text.
func unpackLimit() int64 {
	if memory := available(); memory > 0 {
		return min(source.MaxUnpacked, memory/4)
	}
	return source.MaxUnpacked
}
