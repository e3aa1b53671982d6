package halocmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/gohalo/halo/hlo/source"
)

// writeResult writes to the file that was asked for, or beside the input under another extension; "-" is standard output, unless records
// go there.
func (e *env) writeResult(output, input, extension string, data []byte) error {
	if output == "" {
		if input == "-" {
			output = "-"
		} else {
			output = stem(input) + extension
		}
	}
	switch {
	case output != "-" && e.wrote[output]:
		return fmt.Errorf("%s: error: it holds the result of another program already", output)
	case output != "-":
		if e.wrote == nil {
			e.wrote = map[string]bool{}
		}
		e.wrote[output] = true
		return writeFile(output, data)
	case !e.records:
		_, err := e.stdout.Write(data)
		return err
	}
	return nil
}

// stem is the name of a program's file without the extensions that say how it is stored.
func stem(name string) string {
	name = source.CutPacked(name)
	for _, x := range []string{".mlir", ".bef", ".txt", ".pb"} {
		if s, ok := strings.CutSuffix(name, x); ok {
			name = s
			break
		}
	}
	return strings.TrimSuffix(name, ".hlo")
}

func writeFile(path string, data []byte) error {
	return create(path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// create fills a file by a function. The file appears, or is replaced, when all of it has been written; when anything fails, what was
// there before stays. Devices and pipes are written to directly. Errors begin with the path.
func create(path string, fill func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: error: cannot write: %w", path, unwrapPath(err))
		}
	}()
	mode := fs.FileMode(0o666)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays, its target is replaced
	}
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return errors.New("is a directory")
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // a file that may not be written is not replaced either
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return finish(f, fill)
		}
		f.Close()
		mode = info.Mode().Perm()
	}
	temp := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err = finish(f, fill); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// finish fills an open file and closes it.
func finish(f *os.File, fill func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<18)
	err := fill(w)
	return errors.Join(err, w.Flush(), f.Close())
}

// unwrapPath drops the operation and the path that errors of os repeat.
func unwrapPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
