package halo_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// A folder of torch_xla has the parameters of its program; the caller has the inputs of the model.
func ExampleLoadBundle() {
	b, err := halo.LoadBundle("testdata/run/from_torch/model")
	if err != nil {
		log.Fatal(err)
	}
	p, err := halo.Compile(context.Background(), b.Module, halo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	batch, _ := halo.Array(make([]float32, 5*4), 5, 4)
	tokens, _ := halo.Array([]int64{0, 1, 2})
	args, err := b.Bind(batch, tokens)
	if err != nil {
		log.Fatal(err)
	}
	for i, a := range args {
		fmt.Println(b.Function.Locations[i], a.Shape().WithoutLayout())
	}
	out, err := p.Run(context.Background(), args...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("→", out[0].Shape().WithoutLayout())
	// Output:
	// input 1 s64[3]
	// parameter scale f32[3]
	// parameter fc2.bias f32[3]
	// parameter fc2.weight f32[3,8]
	// parameter fc1.bias f32[8]
	// parameter fc1.weight f32[8,4]
	// input 0 f32[5,4]
	// → f32[5,3]
}

// TestBundle gives the inputs of folders that torch_xla wrote, and expects its answers: from a folder, a program in it, and an archive.
func TestBundle(t *testing.T) {
	const folder = "testdata/run/from_torch"
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	require.NoError(t, w.AddFS(os.DirFS(folder)))
	require.NoError(t, w.Close())
	zipped, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	require.NoError(t, err)
	for _, c := range []struct {
		fsys           fs.FS
		name, in, want string
	}{
		{os.DirFS(folder), "model", "in", "out"},
		{os.DirFS(folder), "model/functions/forward.mlir", "in", "out"},
		{zipped, "model", "in", "out"},
		{zipped, "dynamic", "in7", "out7"},
		{os.DirFS(folder), "nested", "nested_in", "nested_out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			given, want := literals(t, folder+"/"+c.in+".npz"), literals(t, folder+"/"+c.want+".npz")
			l := halo.Loader{}
			for _, x := range given {
				l.Shapes = append(l.Shapes, x.Shape())
			}
			if c.name != "dynamic" {
				l.Shapes = nil
			}
			b, err := l.LoadBundleFS(c.fsys, c.name)
			require.NoError(t, err)
			m, err := l.LoadFS(c.fsys, c.name)
			require.NoError(t, err)
			assert.Equal(t, halo.SignatureOf(b.Module.HLO()), halo.SignatureOf(m.HLO()))
			assert.Equal(t, b.Function.Names()[0], halo.SignatureOf(m.HLO()).Parameters[0].Name)
			args, err := b.Bind(given...)
			require.NoError(t, err)
			p, err := halo.Compile(t.Context(), b.Module, halo.Options{})
			require.NoError(t, err)
			defer p.Close()
			got, err := p.Run(t.Context(), args...)
			require.NoError(t, err)
			for i := range want {
				d := arrays.Compare(got[i], want[i], 1e-5, 1e-5)
				assert.Zero(t, d.Bad, d)
			}
		})
	}
}

// literals are the arrays of a file, by number.
func literals(t *testing.T, file string) (all []*hlo.Literal) {
	named, err := arrays.ReadFile(file)
	require.NoError(t, err)
	for i := range len(named) {
		a := named[fmt.Sprint(i)]
		require.NotNil(t, a)
		types := map[string]hlo.PrimitiveType{"<f4": hlo.F32, "<f8": hlo.F64, "<i4": hlo.S32, "<i8": hlo.S64, "|b1": hlo.PRED}
		l, err := arrays.Literal(a, hlo.MakeShape(types[a.Descr], a.Shape...))
		require.NoError(t, err)
		all = append(all, l)
	}
	return all
}

// TestBundleFails: an error names the folder, the argument and the file.
func TestBundleFails(t *testing.T) {
	const text = "func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n"
	const variable = `{"shape": [2], "dtype": "float32"}`
	const meta = `{"input_signature": [` + variable + `, ` + variable + `], "input_locations": [{"type_": "parameter", "name": "net.w"}, {"type_": "input_arg", "position": 0}]}`
	folder := fstest.MapFS{
		"m/functions/f.mlir": {Data: []byte(text)}, "m/functions/f.meta": {Data: []byte(meta)},
		"two/functions/f.mlir": {Data: []byte(text)}, "two/functions/f.meta": {Data: []byte(meta)},
		"two/functions/g.mlir": {Data: []byte(text)}, "two/functions/g.meta": {Data: []byte(meta)},
		"one/functions/f.mlir": {Data: []byte(text)}, "one/functions/f.meta": {Data: []byte(`{"input_signature": [` + variable + `], "input_locations": [{"type_": "constant"}]}`)},
		"alone/functions/f.meta": {Data: []byte(meta)}, "cut/functions/f.meta": {Data: []byte(`{`)}, "cut/functions/f.mlir": {Data: []byte(text)},
		"other/readme": {}, "plain/functions/f.mlir": {Data: []byte(text)},
	}
	for name, want := range map[string]string{
		"two":                    "two: error: the folder holds 2 functions: name one, two/functions/f.mlir or two/functions/g.mlir",
		"one":                    "one/functions/f.meta: error: arguments: it locates 1, and the program has 2",
		"alone":                  "alone: error: there is no program beside functions/f.meta: want f.bytecode or f.mlir",
		"cut":                    "cut/functions/f.meta: error: unexpected end of JSON input",
		"other":                  "other: error: this is a folder, and not one that torch_xla wrote: there is no functions/*.meta",
		"nothing":                "open nothing: file does not exist",
		"plain/functions/f.mlir": "plain/functions/f.meta: error: file does not exist",
	} {
		_, err := halo.LoadBundleFS(folder, name)
		assert.EqualError(t, err, want)
		if name != "plain/functions/f.mlir" {
			_, err = halo.LoadFS(folder, name)
			assert.EqualError(t, err, want)
		}
	}
	_, err := halo.LoadFS(folder, "plain/functions/f.mlir")
	require.NoError(t, err, "a program without a description")

	b, err := halo.LoadBundleFS(folder, "m")
	require.NoError(t, err)
	x, err := halo.Array([]float32{1, 2})
	require.NoError(t, err)
	_, err = b.Bind()
	assert.EqualError(t, err, "halo: inputs: got 0, the model has 1")
	_, err = b.Bind(x)
	assert.EqualError(t, err, "halo: parameter net.w: there is no file m/data/net.w, and Weights has none: file does not exist")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	folder["m/data/net.w"] = &fstest.MapFile{Data: []byte("weights")}
	_, err = b.Bind(x)
	assert.ErrorContains(t, err, "halo: parameter net.w: m/data/net.w: ")
	three, err := halo.Array([]float32{1, 2, 3})
	require.NoError(t, err)
	long, short := arrays.FromLiteral(three), arrays.FromLiteral(x)
	b.Weights = map[string]*npz.Array{"w": &long}
	_, err = b.Bind(x)
	assert.EqualError(t, err, "halo: parameter 0, net.w: array w: got an array of dimensions [3], want f32[2]")
	b.Weights["w"] = &short
	args, err := b.Bind(x)
	require.NoError(t, err)
	assert.True(t, args[0].Equal(x) && args[1] == x)
}
