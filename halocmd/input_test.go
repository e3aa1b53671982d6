package halocmd

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/printer"
)

const plainModule = "HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestDetection formats one module in every form that a file may have, under names that say nothing or the wrong thing.
func TestDetection(t *testing.T) {
	m, err := parser.Parse("m", plainModule)
	require.NoError(t, err)
	serialized := proto.Encode(m)
	want := printer.String(m)
	text := []byte(plainModule)
	long := []byte(plainModule + "// " + strings.Repeat("-", worthMapping) + "\n") // large enough to be mapped
	for name, c := range map[string]struct {
		data []byte
		err  string
	}{
		"text":               {data: text},
		"text.hlo":           {data: text},
		"mapped":             {data: long},
		"mapped-bom":         {data: append([]byte("\ufeff"), long...)},
		"proto":              {data: serialized},
		"proto.hlo":          {data: serialized},
		"packed":             {data: packed(t, text)},
		"packed.hlo":         {data: packed(t, text)},
		"packed-proto":       {data: packed(t, serialized)},
		"packed-proto.pb.gz": {data: packed(t, serialized)},
		"bom.hlo":            {data: append([]byte("\ufeff"), text...)},
		"packed-bom":         {data: packed(t, append([]byte("\ufeff"), text...))},
		"crlf.txt":           {data: bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))},
		"two-members.gz":     {data: append(packed(t, text[:20]), packed(t, text[20:])...)},

		"text.pb":   {data: text},
		"text.mlir": {data: text},

		"nul":             {data: append(text[:len(text):len(text)], 0), err: "expects name"},
		"elf":             {data: []byte("\x7fELF\x02\x01\x01\x00"), err: "an ELF file, not a program"},
		"mlir-bc":         {data: []byte("ML\xefR\x01\x02"), err: "byte 5 of section header"},
		"utf-16":          {data: []byte("\xff\xfeH\x00l\x00o\x00"), err: "UTF-16 text"},
		"empty":           {err: "expects name"},
		"empty.pb":        {err: "no module"},
		"packed-nothing":  {data: packed(t, nil), err: "expects name"},
		"space":           {data: []byte(" \n\t\n"), err: "expects name"},
		"not-gzip":        {data: []byte("\x1f\x8bHloModule"), err: "gzip"},
		"short-gzip":      {data: []byte("\x1f\x8b"), err: "cut short"},
		"cut-gzip":        {data: packed(t, text)[:30], err: "cut short"},
		"wrong-sum":       {data: flipped(packed(t, text), -6), err: "gzip: invalid checksum"},
		"noise":           {data: []byte{0, 1, 2, 3, 250}, err: "proto"},
		"packed-twice.gz": {data: packed(t, packed(t, text)), err: "this is a gzip file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, c.data, 0o666))
			var stdout, stderr bytes.Buffer
			code := run([]string{"fmt", path}, nil, &stdout, &stderr)
			if c.err != "" {
				assert.Equal(t, exitInput, code)
				assert.Contains(t, stderr.String(), c.err)
				assert.Empty(t, stdout.String())
				return
			}
			assert.Equal(t, exitOK, code, stderr.String())
			assert.Equal(t, want, stdout.String())
		})
	}
}

func flipped(data []byte, at int) []byte {
	data[len(data)+at] ^= 0xff
	return data
}
