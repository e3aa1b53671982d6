package arrays_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct{ leaves, keys, want string }{
		{"p['b'] p['w'] x", "w b x", "b w x"},
		{"p['b'] p['w'] x", "p['w'] p.b", "p.b p['w'] -"},
		{"params['layers'][0]['w'] params['layers'][1]['w']", "model.layers.0.w model.layers.1.w", "model.layers.0.w model.layers.1.w"},
		{"params['Dense_0']['kernel'] params['Dense_1']['kernel']", "params/Dense_1/kernel Dense_0/kernel kernel", "Dense_0/kernel params/Dense_1/kernel"},
		{"state.params['w'] state.opt['mu']['w']", "params.w mu.w", "params.w mu.w"},
		{"p['w'] opt['mu']['w']", "w", "w -"},
		{"opt['mu']['w'] p['w']", "w", "- w"},
		{"x,[0]['v'] y,[1]['v']", "v", "error: v fits both x and y"},
		{"p['w']", "a.w b.w", "error: both a.w and b.w fit p['w']"},
		{"p['w']", "a.w b.w w", "w"},
		{"args[0]['layers'][0]['w'] args[1]", "model.layers.0.w args[1]", "model.layers.0.w args[1]"},
		{"p[0] p[1]", "1 0", "0 1"},
		{"p['w']", "v", "-"},
		{"- x", "- .", "- -"},
		{"p['layer']['w'] p['w']", "layer.w w", "layer.w w"},
		{"a['w']", "b['w']", "b['w']"}, // the argument may have another name
		{"a['x']['w']", "b['y']['w']", "-"},
	} {
		var leaves [][]string
		for _, l := range strings.Fields(c.leaves) {
			leaves = append(leaves, strings.Split(strings.Trim(l, "-"), ","))
		}
		got, err := arrays.Match(leaves, strings.Fields(strings.ReplaceAll(c.keys, "- ", "")))
		var text string
		if err != nil {
			text = "error: " + err.Error()
		} else {
			for i := range got {
				if got[i] == "" {
					got[i] = "-"
				}
			}
			text = strings.Join(got, " ")
		}
		assert.Equal(t, c.want, text, "%s from %s", c.leaves, c.keys)
	}
}

// TestReadAll reads weights that are spread over the files of a folder.
func TestReadAll(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, literals ...arrays.Named) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		f, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, arrays.WriteFile(f, path, literals))
		require.NoError(t, f.Close())
	}
	number := func(x float32) *hlo.Literal {
		l, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32), x)
		require.NoError(t, err)
		return l
	}
	_, err := arrays.ReadAll(dir)
	assert.ErrorContains(t, err, "no .npy, .npz or .safetensors files")
	write("layers/0/w.npy", arrays.Named{Key: "0", Literal: number(1)})
	write("a.npz", arrays.Named{Key: "b", Literal: number(2)})
	write("m-1.safetensors", arrays.Named{Key: "c", Literal: number(3)}, arrays.Named{Key: "d", Literal: number(4)})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "readme.md"), nil, 0o666))
	all, err := arrays.ReadAll(dir)
	require.NoError(t, err)
	for key, want := range map[string]float32{"layers/0/w": 1, "b": 2, "c": 3, "d": 4} {
		if assert.Contains(t, all, key) {
			l, err := arrays.Literal(all[key], hlo.MakeShape(hlo.F32))
			require.NoError(t, err)
			assert.Equal(t, number(want).Bytes(), l.Bytes(), key)
		}
	}
	one, err := arrays.ReadAll(filepath.Join(dir, "a.npz"))
	require.NoError(t, err)
	assert.Len(t, one, 1)
	write("z.npz", arrays.Named{Key: "c", Literal: number(5)})
	_, err = arrays.ReadAll(dir)
	assert.EqualError(t, err, "z.npz: array c is in another file, too")
}
