package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gohalo/halo/arrays/npz"
)

// functions is the folder of the programs.
const functions = "functions"

// maxMeta bounds descriptions, which need not be regular files.
const maxMeta = 64 << 20

// Programs lists the programs of a folder as paths in it, such as functions/forward.bytecode, sorted by name; none if the folder is another one.
// An error is about a description without a program.
func Programs(fsys fs.FS, folder string) (found []string, err error) {
	entries, err := fs.ReadDir(fsys, path.Join(folder, functions))
	if err != nil {
		return nil, nil // not such a folder: whoever lists it meets the error
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && !e.IsDir() })
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), meta)
		if !ok {
			continue
		}
		i := slices.IndexFunc(extensions, func(x string) bool { return has(name + x) })
		if i < 0 {
			return nil, fmt.Errorf("there is no program beside %s: want %s", path.Join(functions, e.Name()), name+strings.Join(extensions, " or "+name))
		}
		found = append(found, path.Join(functions, name+extensions[i]))
	}
	return found, nil
}

// Cut divides the path of a program in such a folder: model/functions/forward.bytecode is functions/forward.bytecode in model. ok is false
// for other paths.
func Cut(name string) (folder, program string, ok bool) {
	dir, file := filepath.Split(name)
	if dir = filepath.Clean(dir); filepath.Base(dir) != functions || !slices.Contains(extensions, filepath.Ext(file)) {
		return "", "", false
	}
	return filepath.Dir(dir), path.Join(functions, file), true
}

// Description is the path of the description of a program, which may not be there.
func Description(program string) string {
	return strings.TrimSuffix(program, path.Ext(program)) + meta
}

// IsDescription reports whether a path is that of a description, functions/forward.meta.
func IsDescription(name string) bool {
	dir, file := path.Split(name)
	return path.Base(dir) == functions && path.Ext(file) == meta
}

// Open reads the description of a program of a folder, as [Programs] and [Cut] name it. The error is one of the file system, fs.ErrNotExist where
// there is no description, or is about its content.
func Open(fsys fs.FS, folder, program string) (*Function, error) {
	file, err := fsys.Open(path.Join(folder, Description(program)))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxMeta+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxMeta:
		return nil, fmt.Errorf("more than %d bytes", maxMeta)
	}
	f, err := Read(data)
	if err == nil {
		f.fsys, f.folder = fsys, folder
	}
	return f, err
}

// Array reads the array of argument i from the folder that [Open] was given. There is none for inputs; those of parameters may be absent, as torch_xla
// leaves them out on request. The error is one of the file system then, fs.ErrNotExist, or is about the content of the file.
func (f *Function) Array(i int) (*npz.Array, error) {
	l := f.Locations[i]
	if f.fsys == nil || l.Kind == Input {
		return nil, fmt.Errorf("%v: %w", l, errors.ErrUnsupported)
	}
	file, err := f.fsys.Open(path.Join(f.folder, l.File()))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return npz.ReadNPYFile(file)
}
