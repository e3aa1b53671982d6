package halocmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/source"
)

// input is one file to work on.
type input struct {
	place
	data []byte // gunzipped
	kind source.Kind

	linesBefore int         // of the file, where data is a part of it
	mapped      bool        // data is the file itself
	lenient     bool        // see readFlags
	saved       *saved      // see openSaved
	shapes      []hlo.Shape // of the arguments, for programs with dynamic shapes; nil when they are not known
}

// place is where an input comes from.
type place struct {
	name string // as it is opened, "-" for standard input
	rel  string // its place in a folder of results: the path below the directory that was named, else the last part of the name

	inArchive bool

	part   string // the number of the module in a file of several; "" is a file of its own
	member string // the member of an archive, or the number of the module among several, that is asked for; "" is all of them
}

// label names a place in records: all.hlo#2 is the second module of a file.
func (p place) label() string {
	if p.part != "" {
		return p.name + "#" + p.part
	}
	return p.name
}

// beside is the name that results next to the file are made from.
func (p place) beside() string {
	if p.part != "" && p.name != "-" {
		return filepath.Join(filepath.Dir(p.name), filepath.Base(p.rel))
	}
	return p.name
}

// expand lists the files that the arguments name: files as they are, directories by what they hold, "-" for standard input.
func (e *env) expand(args []string) ([]place, error) {
	var files []place
	for i, a := range args {
		if a == "-" {
			if slices.Contains(args[:i], a) {
				return nil, usageError{errors.New("standard input, -, can be read only once")}
			}
			files = append(files, place{name: a, rel: "stdin.hlo"})
			continue
		}
		// An input that cannot be opened is reported when it is read, like any other broken one.
		info, err := os.Stat(a)
		if err != nil {
			files = append(files, within(a))
			continue
		}
		if !info.IsDir() {
			files = append(files, place{name: a, rel: filepath.Base(a)})
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

// read loads a file and finds out what it is, and what there is beside it.
func (e *env) read(s place) (*input, error) {
	in, err := e.open(s)
	if err == nil {
		in.saved, err = openSaved(s.name)
	}
	return in, err
}

// open is read without what there is beside.
func (e *env) open(s place) (*input, error) {
	if e.mapInputs && s.name != "-" {
		if data, ok := mapFile(s.name); ok {
			if source.IsPlain(data) {
				return e.inputOf(s, data, true), nil
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
	return e.inputOf(s, data, false), nil
}

func (e *env) inputOf(s place, data []byte, mapped bool) *input {
	return &input{place: s, data: data, kind: source.Detect(s.name, data), mapped: mapped, lenient: e.lenient, shapes: e.shapes}
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
