package main

import (
	"bytes"
	"compress/gzip"
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
	name string
	data []byte // gunzipped
	kind kind
}

// maxInput bounds what a file, once unpacked, may hold.
const maxInput = 8 << 30

// extensions of the files that are taken from a directory.
var extensions = []string{".hlo", ".pb", ".hlo.gz", ".pb.gz", ".mlir", ".bef"}

// expand lists the files that the arguments name: files as they are, directories by what they hold, "-" for standard input.
func expand(args []string) ([]string, error) {
	var files []string
	for _, a := range args {
		info, err := os.Stat(a)
		switch {
		case a == "-":
			files = append(files, a)
			continue
		case err != nil:
			files = append(files, a) // reported when it is read, like any other broken input
			continue
		case !info.IsDir():
			files = append(files, a)
			continue
		}
		err = filepath.WalkDir(a, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && slices.ContainsFunc(extensions, func(x string) bool { return strings.HasSuffix(path, x) }) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// read loads a file and finds out what it is.
func (e *env) read(name string) (*input, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(e.stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", name, unwrapPath(err))
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		if data, err = gunzip(data); err != nil {
			return nil, fmt.Errorf("%s: error: %w", name, err)
		}
	}
	return &input{name: name, data: data, kind: detect(name, data)}, nil
}

// unwrapPath drops the path that os errors repeat.
func unwrapPath(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err == nil && len(out) > maxInput {
		err = fmt.Errorf("unpacks to more than %d bytes", int64(maxInput))
	}
	return out, err
}

func detect(name string, data []byte) kind {
	switch {
	case bytes.HasPrefix(data, []byte{0x0b, 0xef}):
		return befFile
	case strings.HasSuffix(name, ".mlir"):
		return hostText
	case isBinary(data):
		return hloProto
	case name == "-" && looksLikeHostProgram(data):
		return hostText
	}
	return hloText
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
