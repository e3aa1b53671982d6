package arrays

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// rawItems is the type of items of files that say nothing about their contents.
const rawItems = "raw"

// isRaw reports whether a file has elements and nothing else, by its name.
func isRaw(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".raw" || ext == ".bin"
}

func isNPY(path string) bool { return strings.EqualFold(filepath.Ext(path), ".npy") }

func isSafetensors(path string) bool { return strings.EqualFold(filepath.Ext(path), ".safetensors") }

// ReadFile reads the arrays of a file by their keys. What it holds follows from its name: .npy is one array, whose key is 0; so are .raw and
// .bin, the elements row by row as they lie in memory, lowest byte first, those narrower than a byte in one each; .safetensors has names for keys; all else is npz. The arrays that numpy.savez
// gets without names, arr_0, arr_1 and so on, have their numbers for keys: 0, 1.
func ReadFile(path string) (map[string]*npz.Array, error) {
	switch {
	case isNPY(path):
		a, err := ReadNPY(path)
		return map[string]*npz.Array{"0": a}, err
	case isSafetensors(path):
		return readSafetensorsFile(path)
	case isRaw(path):
		data, err := os.ReadFile(path)
		return map[string]*npz.Array{"0": {Descr: rawItems, ItemSize: 1, Shape: []int64{int64(len(data))}, Data: data}}, err
	}
	all, err := ReadNPZ(path)
	return numbered(all), err
}

// numbered replaces the keys of arrays that NumPy numbered by their numbers. Where one key is another, all stay.
func numbered(all map[string]*npz.Array) map[string]*npz.Array {
	byNumber := make(map[string]*npz.Array, len(all))
	for i := range len(all) {
		a, ok := all[fmt.Sprintf("arr_%d", i)]
		if !ok {
			return all
		}
		byNumber[strconv.Itoa(i)] = a
	}
	return byNumber
}

// ReadOne reads the array of a file of one: .npy, .raw or .bin.
func ReadOne(path string) (*npz.Array, error) {
	if !isRaw(path) {
		return ReadNPY(path)
	}
	all, err := ReadFile(path)
	return all["0"], err
}

// WriteFile writes literals in the form that belongs to the name of a file, see [ReadFile]. Files of .npy, .raw and .bin hold one.
func WriteFile(w io.Writer, path string, literals []Named) error {
	if isSafetensors(path) {
		return WriteSafetensors(w, literals)
	}
	raw := isRaw(path)
	if !raw && !isNPY(path) {
		return WriteNPZ(w, literals)
	}
	if len(literals) != 1 {
		return fmt.Errorf("a %s file holds one array, and there are %d: use .npz", filepath.Ext(path), len(literals))
	}
	a := FromLiteral(literals[0].Literal)
	if raw {
		_, err := w.Write(a.Data)
		return err
	}
	return npz.WriteNPY(w, a)
}

// shaped gives raw items the type and dimensions of a shape that they fill.
func shaped(a *npz.Array, s hlo.Shape) (*npz.Array, error) {
	if want := s.NumElements() * int64(s.Type().ByteSize()); int64(len(a.Data)) != want {
		return nil, fmt.Errorf("got %d bytes, want %d for %v", len(a.Data), want, s.WithoutLayout())
	}
	descr, _ := npz.Descr(s.Type().String())
	return &npz.Array{Descr: descr, ItemSize: s.Type().ByteSize(), Shape: s.Dimensions(), Data: a.Data}, nil
}
