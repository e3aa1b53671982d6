package halocmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/printer"
)

// unitFolder is a folder of modules, each in a file of its name.
type unitFolder string

func (f unitFolder) file(name string) (string, error) {
	if name == "" || name[0] == '.' || fileName(name) != name {
		return "", fmt.Errorf("%q cannot be the name of a file in %s", name, string(f))
	}
	return filepath.Join(string(f), name+".hlo"), nil
}

// Unit reads a module.
func (f unitFolder) Unit(name string) (m hlo.Module, ok bool, err error) {
	file, err := f.file(name)
	if err != nil {
		return m, false, err
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	m, err = parser.Parse(file, string(text))
	return m, err == nil, err
}

// Add writes a module, and loses nothing of it.
func (f unitFolder) Add(name string, m hlo.Module) error {
	file, err := f.file(name)
	if err != nil {
		return err
	}
	text, err := printer.Append(nil, m, printer.Long)
	if err == nil {
		err = os.MkdirAll(string(f), 0o755)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
