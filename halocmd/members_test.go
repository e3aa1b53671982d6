package halocmd

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// member is a file to put into an archive.
type member struct{ name, text string }

func zipped(t *testing.T, members []member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, err := w.Create(m.name)
		require.NoError(t, err)
		_, err = f.Write([]byte(m.text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func tarred(t *testing.T, members []member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.text)), Mode: 0o644}))
		_, err := w.Write([]byte(m.text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestArchives looks at the programs of archives with every command's reader.
func TestArchives(t *testing.T) {
	const one = "HloModule one\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"
	const two = "HloModule two\n\nENTRY e {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p)\n}\n"
	members := []member{
		{"d/module_0001.one.before_optimizations.txt", one}, {"d/module_0001.one.debug_options", "x: 1\n"},
		{"d/packed.hlo.gz", string(packed(t, []byte(two)))}, {"d/both.txt", one + two},
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o666))
		return path
	}
	// Each run has its own directory name in the output, which is cut away.
	try := func(code int, args ...string) string {
		var out bytes.Buffer
		assert.Equal(t, code, run(args, nil, &out, &out), "%v: %s", args, out.String())
		return string(bytes.ReplaceAll(out.Bytes(), []byte(dir+string(filepath.Separator)), nil))
	}
	tarFile := tarred(t, members)
	for name, data := range map[string][]byte{
		"a.zip": zipped(t, members), "a.tar": tarFile, "a.tar.gz": packed(t, tarFile), "a.tgz": packed(t, tarFile), "a.tar.zst": zstd.EncodeTo(nil, tarFile),
	} {
		path := write(name, data)
		assert.Equal(t, name+": note: skipped one file without a program: d/module_0001.one.debug_options\n", try(exitOK, "verify", path))
		out := try(exitOK, "stats", "--json", path)
		for _, file := range []string{"d/module_0001.one.before_optimizations.txt", "d/packed.hlo.gz", "d/both.txt#1", "d/both.txt#2"} {
			assert.Contains(t, out, `/`+file+`","ok":true`, name)
		}
		assert.Contains(t, try(exitOK, "stats", path+"/d/packed.hlo.gz"), "two: 2 instructions")
		assert.Contains(t, try(exitOK, "stats", path+"/d/both.txt#2"), "two: 2 instructions")
		assert.Contains(t, try(exitInput, "stats", path+"/d/none.txt"), "error: there is no d/none.txt in this archive")
		out = try(exitOK, "ls", path)
		assert.Regexp(t, `(?m)^d/module_0001\.one +1 +-`, out)
		assert.Contains(t, out, "4 modules; the largest is d/both#2, 2 instructions")
		assert.Equal(t, exitOK, run([]string{"fmt", "-o", filepath.Join(dir, "out", name), path}, nil, &bytes.Buffer{}, &bytes.Buffer{}))
		assert.FileExists(t, filepath.Join(dir, "out", name, "d", "both.txt"))
		try(exitOK, "run", "--fill=ones", path)
		require.NoError(t, os.Remove(path))
	}
	// Names that lead out of the folder of results stay in it.
	evil := write("evil.zip", zipped(t, []member{{"../../evil.hlo", one}}))
	try(exitOK, "fmt", "-o", filepath.Join(dir, "x", "y", "z"), evil)
	assert.FileExists(t, filepath.Join(dir, "x", "y", "z", "evil.hlo"))

	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"none.zip":  {zipped(t, []member{{"x.npy", "\x93NUMPY"}}), "none.zip: error: no programs in this archive: one file, and none begins as a program does"},
		"cut.zip":   {zipped(t, members)[:200], "cut.zip: error: zip: the file is cut short or damaged"},
		"cut.tar":   {tarFile[:len(tarFile)/2], "cut.tar: error: tar: the file is cut short"},
		"bomb.zip":  {zipped(t, []member{{"a.hlo", string(make([]byte, 300<<20))}}), "error: zip: unpacks to more than 268435456 bytes"},
		"inner.zip": {zipped(t, []member{{"inner.zip", string(zipped(t, members))}}), "inner.zip: error: no programs in this archive"},
	} {
		assert.Contains(t, try(exitInput, "verify", write(name, c.data)), c.want)
	}
	assert.Contains(t, try(exitInput, "verify", filepath.Join(dir, "inner.zip", "inner.zip")), "inner.zip/inner.zip: error: an archive in an archive is not read")
}

// TestPackedBundle: the arguments of a program in an archive are not looked for, which who looks for them is told.
func TestPackedBundle(t *testing.T) {
	const text = "func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n  return %arg0 : tensor<f32>\n}\n"
	file := filepath.Join(t.TempDir(), "m.zip")
	require.NoError(t, os.WriteFile(file, zipped(t, []member{{"m/functions/f.mlir", text}, {"m/functions/f.meta", "{}"}, {"m/data/w", "weights"}}), 0o666))
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitOK, run([]string{"run", "--fill=ones", file}, nil, &stdout, &stderr), stderr.String())
	assert.Contains(t, stderr.String(), "m.zip: note: m/functions/f.meta describes the arguments of a program: unpack the archive, and halo finds them")
}
