package arrays

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gohalo/halo/arrays/npz"
)

// Match finds the arrays that are meant for leaves by their names. A leaf has one name or several, such as p['layers'][0]['w'] and
// [0]['layers'][0]['w']; keys are names in files: layers.0.w, layers/0/w, model.layers.0.w. A key fits a leaf if the name of the leaf ends in
// it, or if it ends in the name of the leaf but for the argument, which is the first part. Of several, the one that has least to leave
// out is meant. matched has a key, or "", for each leaf. An error says which names fit equally well.
func Match(leaves [][]string, keys []string) (matched []string, err error) {
	keys = slices.Sorted(slices.Values(keys))
	paths := make([][]string, len(keys))
	byLast := map[string][]int{} // most keys of a model differ in their last part, or share it with few
	for i, k := range keys {
		paths[i] = pathOf(k)
		if n := len(paths[i]); n > 0 {
			byLast[paths[i][n-1]] = append(byLast[paths[i][n-1]], i)
		}
	}
	matched = make([]string, len(leaves))
	costs := make([]int, len(leaves))
	takenBy := map[string]int{}
	for l, names := range leaves {
		best, cost, rival := -1, 0, -1
		for _, name := range names {
			leaf := leafPath(name)
			if len(leaf) == 0 {
				continue
			}
			for _, k := range byLast[leaf[len(leaf)-1]] {
				c, ok := distance(leaf, paths[k])
				switch {
				case !ok, k == best && c >= cost, best >= 0 && c > cost:
				case k == best, best < 0, c < cost:
					best, cost, rival = k, c, -1
				default:
					rival = k
				}
			}
		}
		if best < 0 {
			continue
		}
		if other, taken := takenBy[keys[best]]; taken {
			switch {
			case costs[other] < cost:
				continue
			case costs[other] == cost:
				return nil, fmt.Errorf("%s fits both %s and %s", keys[best], leaves[other][0], names[0])
			}
			matched[other] = ""
		}
		if rival >= 0 {
			return nil, fmt.Errorf("both %s and %s fit %s", keys[best], keys[rival], names[0])
		}
		matched[l], costs[l], takenBy[keys[best]] = keys[best], cost, l
	}
	return matched, nil
}

// distance is how many parts of both are left out where a key fits a leaf.
func distance(leaf, key []string) (parts int, ok bool) {
	same := 0
	for same < min(len(leaf), len(key)) && leaf[len(leaf)-1-same] == key[len(key)-1-same] {
		same++
	}
	ok = same > 0 && (same == len(key) || same >= len(leaf)-1)
	return len(leaf) + len(key) - 2*same, ok
}

// leafPath is the parts of the name of a leaf, where args[0], an argument that has no name, is one part.
func leafPath(name string) []string {
	path := pathOf(name)
	if strings.HasPrefix(name, "args[") && len(path) > 1 {
		path = path[1:]
	}
	return path
}

// pathOf is the parts of a name, however they are separated.
func pathOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(`./[]'"`, r) })
}

// ReadAll reads the arrays of a file, as [ReadFile] does, or those of all files below a folder that are npy, npz or safetensors: the key of an array of
// an npy file is its path in the folder without the extension, the others are those in the files.
func ReadAll(path string) (map[string]*npz.Array, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return ReadFile(path)
	}
	all := map[string]*npz.Array{}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isNPY(file) && !isSafetensors(file) && !strings.EqualFold(filepath.Ext(file), ".npz") {
			return err
		}
		arrays, err := ReadFile(file)
		rel, _ := filepath.Rel(path, file)
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		for key, a := range arrays {
			if isNPY(file) {
				key = filepath.ToSlash(strings.TrimSuffix(rel, filepath.Ext(rel)))
			}
			if all[key] != nil {
				return fmt.Errorf("%s: array %s is in another file, too", rel, key)
			}
			all[key] = a
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no .npy, .npz or .safetensors files in this folder")
	}
	return all, err
}
