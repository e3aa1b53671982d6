package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo/source"
)

// input is one file to work on.
type input struct {
	place
	data []byte // gunzipped
	kind source.Kind

	mapped  bool // data is the file itself
	lenient bool // see readFlags
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
				return &input{s, data, source.Detect(s.name, data), true, e.lenient}, nil
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
	return &input{s, data, source.Detect(s.name, data), false, e.lenient}, nil
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
