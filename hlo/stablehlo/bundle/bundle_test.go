package bundle_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/bundle"
)

// written is what torch_xla wrote.
func written(t testing.TB, folder string) []byte {
	data, err := os.ReadFile(filepath.Join("../../../testdata/run/from_torch", folder, "functions/forward.meta"))
	require.NoError(t, err)
	return data
}

func TestRead(t *testing.T) {
	f, err := bundle.Read(written(t, "dynamic"))
	require.NoError(t, err)
	assert.Equal(t, []string{"input 1", "scale", "fc2.bias", "fc2.weight", "fc1.bias", "fc1.weight", "input 0"}, f.Names())
	assert.Equal(t, []int{6, 0}, f.Inputs())
	assert.Equal(t, "s64[3]", f.Signature[0].Shape().String())
	assert.Equal(t, "f32[?,4]", f.Signature[6].Shape().String())
	assert.Equal(t, "data/fc2.weight", f.Locations[3].File())
	batch := []hlo.Shape{hlo.MakeShape(hlo.F32, 9, 4), hlo.MakeShape(hlo.S64, 3)}
	all := f.Arguments(batch)
	require.Len(t, all, 7)
	assert.Equal(t, batch[0], all[6])
	assert.Equal(t, "f32[3,8]", all[3].String())
	assert.Equal(t, all, f.Arguments(all))
}

// TestInputs counts the leaves of the caller's arguments: those in dictionaries are missing among the unused.
func TestInputs(t *testing.T) {
	f, err := bundle.Read(written(t, "nested"))
	require.NoError(t, err)
	assert.Empty(t, f.Unused)
	assert.Equal(t, []int{4, 1, -1, 2, -1}, f.Inputs())
	assert.Equal(t, "constants/1", f.Locations[3].File())
}

func TestReadFails(t *testing.T) {
	const signature = `"input_signature": [{"shape": [2], "dtype": "float32", "dynamic_dims": [0]}]`
	for meta, want := range map[string]string{
		`{"input_signature": [], "input_locations": [{"type_": "constant", "position": 0}]}`:                                             "input_signature has 0 arguments, input_locations has 1",
		`{` + signature + `, "input_locations": [{"type_": "state", "position": 0}]}`:                                                    `argument 0: type_ is "state"; want input_arg, parameter or constant`,
		`{` + signature + `, "input_locations": [{"type_": "parameter", "name": "../w"}]}`:                                               `argument 0: got the name "../w" of a parameter`,
		`{` + signature + `, "input_locations": [{"type_": "input_arg", "position": -1}]}`:                                               "argument 0: got the position -1 of input_arg",
		`{"input_signature": [{"shape": [2], "dtype": "qint8"}], "input_locations": [{"type_": "constant"}]}`:                            `argument 0: dtype "qint8" has no counterpart in HLO`,
		`{"input_signature": [{"shape": [], "dtype": "bool", "dynamic_dims": [0]}], "input_locations": [{"type_": "constant"}]}`:         "argument 0: dimension 0 is dynamic: there are 0",
		`{"input_signature": [{"shape": [-1], "dtype": "bool"}], "input_locations": [{"type_": "constant"}]}`:                            "argument 0: got the shape [-1]",
		`{"input_signature": [{"dtype": "bool"}, {"dtype": "bool"}], "input_locations": [{"type_": "constant"}, {"type_": "constant"}]}`: "argument 1: constant 0 is another argument, too",
		`{"unused_inputs": [[{"type_": "input_arg", "position": -2}, {}]]}`:                                                              "got the position -2 of input_arg",
	} {
		_, err := bundle.Read([]byte(meta))
		assert.EqualError(t, err, want, meta)
	}
}

func FuzzRead(f *testing.F) {
	for _, folder := range []string{"model", "dynamic", "nested"} {
		f.Add(written(f, folder))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := bundle.Read(data)
		if err != nil {
			return
		}
		for _, i := range m.Inputs() {
			require.Less(t, i, len(m.Locations))
		}
		require.Len(t, m.Names(), len(m.Signature))
		m.Arguments(make([]hlo.Shape, len(m.Inputs())))
	})
}
