package source_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/source"
)

const module = "HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// exported is a flatbuffer whose root has one field, number 13, with these bytes.
func exported(module string) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 40) // the root
	table := len(b)
	b = le.AppendUint16(b, 4+2*14)
	b = le.AppendUint16(b, 8)
	b = append(b, make([]byte, 2*13)...)
	b = le.AppendUint16(b, 4)
	b = append(b, make([]byte, 40-len(b))...)
	b = le.AppendUint32(b, uint32(40-table))
	b = le.AppendUint32(b, 4) // to the vector
	b = le.AppendUint32(b, uint32(len(module)))
	return append(b, module...)
}

// TestDetect has content of each kind under a name that says nothing, or something else.
func TestDetect(t *testing.T) {
	m, err := parser.Parse("m", module)
	require.NoError(t, err)
	named := func(n int) []byte {
		m, err := parser.Parse("m", strings.Replace(module, " m\n", " "+strings.Repeat("n", n)+"\n", 1))
		require.NoError(t, err)
		return proto.Encode(m)
	}
	seen := map[source.Kind]bool{}
	for _, c := range []struct {
		what, name, data string
		want             source.Kind
	}{
		{"a header", "", module, source.HLOText},
		{"a comment first", "m.pb", "// a\n/* b */ " + module, source.HLOText},
		{"a byte order mark", "", "\ufeff" + module, source.HLOText},
		{"a fault far behind", "", module + "\x00", source.HLOText},
		{"no header", "", "ENTRY e {\n}\n", source.HLOText},
		{"a name with %", "", "%e () -> f32[] {\n}\n", source.HLOText},
		{"a computation", "", "fused.clone (p: f32[]) -> f32[] {\n}\n", source.HLOText},
		{"a shape", "", "f32[2]{0} add(a, b)", source.HLOText},
		{"a line end first", "", "\n" + module, source.HLOText},
		{"line ends and no header", "", "\n\nadd (p: f32[]) -> f32[] {", source.HLOText},
		{"nothing", "", "", source.HLOText},
		{"nothing, as a proto", "m.pb", "", source.HLOProto},
		{"nothing, as a host program", "m.mlir", "", source.HLOText},
		{"a comment, as a host program", "m.mlir", "// RUN: none\n\n", source.HLOText},
		{"a module without functions", "m.mlir", "module {\n}\n", source.HostProgram},
		{"nothing, as BEF", "m.bef.gz", "", source.BEF},

		{"a module", "m.hlo", string(proto.Encode(m)), source.HLOProto},
		{"a name as long as a tab is", "", string(named(9)), source.HLOProto},
		{"a name as long as a line end is", "", string(named(10)), source.HLOProto},
		{"a name as long as a space is", "", string(named(32)), source.HLOProto},
		{"a name longer than what is looked at", "", string(named(5000)), source.HLOProto},
		{"noise", "", "\x00\x01\x02", source.HLOProto},
		{"noise, as BEF", "m.bef", "\x00\x01\x02", source.BEF},

		{"magic", "m.hlo", "\x0b\xef\x00", source.BEF},
		{"gzip", "m.hlo", string(gzipped(t, []byte(module))), source.Gzip},
		{"zstd", "m.hlo", "\x28\xb5\x2f\xfd", source.Zstd},
		{"zip", "", "PK\x03\x04\x00", source.Zip},
		{"tar", "m.hlo", strings.Repeat("\x00", 257) + "ustar\x0000", source.Tar},
		{"a snapshot as text", "m.txt", "hlo_module {\n  name: \"jit_f\"\n  computations {\n", source.TextProto},
		{"options", "", "xla_dump_to: \"/tmp/x\"\nxla_y: true\n", source.TextOptions},
		{"an option", "", "xla_cpu_enable_fast_min_max: false\n", source.TextOptions},
		{"a computation with a short name", "", "f {\n  a = f32[] parameter(0)\n}\n", source.HLOText},
		{"ELF", "", "\x7fELF", source.ELF},
		{"a pickle", "m.pb", "\x80\x04\x95\x00", source.Pickle},
		{"a jaxpr", "m.hlo", "{ lambda ; a:f32[3]. let\n", source.Jaxpr},
		{"UTF-16", "", "\xff\xfeH\x00", source.UTF16},
		{"UTF-16, the other way", "", "\xfe\xff\x00H", source.UTF16},
		{"bytecode", "m.mlir", "ML\xefR\x06StableHLO_v1.0.0\x00", source.MLIRBytecode},
		{"an export", "", string(exported("ML\xefR\x06")), source.JAXExport},
		{"a flatbuffer of something else", "", string(exported("TFL3")), source.HLOProto},

		{"JAX", "m.txt", `module @jit_f attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}`, source.StableHLOText},
		{"locations", "m.mlir", `#loc1 = loc("tfrt.x"("f.py":1:0))
#map = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<4xf32> loc("tf.y")) -> tensor<4xf32> {
  %0 = "stablehlo.abs"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc1)
}`, source.StableHLOText},
		{"generic", "", `"builtin.module"() <{sym_name = "tfrt.no"}> ({
  "func.func"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<f32>):
    %0 = "vhlo.abs_v1"(%arg0) : (tensor<f32>) -> tensor<f32>`, source.StableHLOText},
		{"a mesh", "", "module {\n  sdy.mesh @mesh = <[\"x\"=2]>\n}", source.StableHLOText},
		{"no op", "", "func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n  return %arg0 : tensor<4xf32>\n}", source.StableHLOText},
		{"no argument", "", "func.func @main() -> tensor<4xf32> {\n}", source.StableHLOText},
		{"kernels", "m.hlo", "func.func @f() -> i32 attributes {tfrt.sync} {\n  %a = tfrt.constant.i32 1\n}", source.HostProgram},
		{"kernels of a user", "", "func.func @f() {\n  %a = \"mine.add.i32\"(%a, %b) : (i32, i32) -> i32\n}", source.HostProgram},
		{"a host program without kernels", "", "module {\nfunc.func @main(%c: !tfrt.chain) -> !tfrt.chain {\n  tfrt.return %c\n}}", source.HostProgram},
		{"damaged bytecode of torch_xla", "forward.bytecode", "\xb2LRm", source.MLIRBytecode},
		{"C++", "", "#include \"hlo.h\"\n\nint main() {}\n", source.HLOText},
		{"an alias first", "", "#loc = loc(unknown)\nmodule @m {\n  func.func @f() {\n    %a = \"mine.add.i32\"() : () -> i32\n  }\n}", source.HostProgram},
		{"TOSA", "m.mlir", "func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = tosa.abs %arg0 : (tensor<4xf32>) -> tensor<4xf32>\n}", source.OtherMLIR},
	} {
		assert.Equal(t, c.want.String(), source.Detect(c.name, []byte(c.data)).String(), c.what)
		seen[c.want] = true
	}
	assert.Len(t, seen, source.NumKinds, "each kind has a case")
}

// TestDetectCorpus asks of every file of the corpus.
func TestDetectCorpus(t *testing.T) {
	kindOf := map[string]source.Kind{
		".hlo": source.HLOText, ".pb": source.HLOProto, ".mlir": source.StableHLOText, ".mlirbc": source.MLIRBytecode, ".jax_export": source.JAXExport, ".bef": source.BEF,
	}
	root := "../../../shared/corpus"
	n := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "bad") || strings.Contains(path, "hostile") {
			return nil
		}
		want, ok := kindOf[filepath.Ext(path)]
		if !ok {
			return nil
		}
		if strings.Contains(path, "tfrt_tests") && want == source.StableHLOText {
			want = source.HostProgram
		}
		if filepath.Base(path) == "encoding.mlir" { // nothing but comments, which only asm takes for a program
			want = source.HLOText
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, want.String(), source.Detect(path, data).String(), path)
		n++
		return nil
	})
	for _, set := range []string{"tests", "programs", "poly", "spmd", "ops"} {
		for _, row := range jsonLines(t, filepath.Join(root, "stablehlo", set+".jsonl.gz")) {
			check := func(want source.Kind, data []byte, what string) {
				if n++; len(data) > 0 {
					assert.Equal(t, want.String(), source.Detect("", data).String(), "%s/%s: %s", set, row.ID, what)
				}
			}
			if row.Error == "" { // or else it may have no main function or no op of StableHLO
				check(source.StableHLOText, []byte(row.MLIR), "text")
			}
			check(source.StableHLOText, []byte(row.Located), "text with locations")
			check(source.JAXExport, row.Export, "export")
			var versions map[string][]byte
			var one []byte
			if json.Unmarshal(row.Bytecode, &versions) != nil {
				_ = json.Unmarshal(row.Bytecode, &one)
			}
			check(source.MLIRBytecode, one, "bytecode")
			for version, data := range versions {
				check(source.MLIRBytecode, data, version)
			}
		}
	}
	if n == 0 {
		t.Skip("the corpus is not there: ", root)
	}
	t.Logf("%d files", n)
}

// stableRow is a program of the corpus in its forms.
type stableRow struct {
	ID, MLIR, Error string
	Located         string `json:"mlir_loc"`
	Export          []byte
	Bytecode        json.RawMessage // a map from versions, or one
}

func jsonLines(t *testing.T, path string) (rows []stableRow) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for d := json.NewDecoder(z); ; {
		var row stableRow
		if err := d.Decode(&row); err == io.EOF {
			return rows
		} else {
			require.NoError(t, err)
		}
		rows = append(rows, row)
	}
}

// TestRead reads a module in every form that has one, and asks for the error of each form that has none.
func TestRead(t *testing.T) {
	m, err := parser.Parse("m", module)
	require.NoError(t, err)
	for what, data := range map[string][]byte{
		"text": []byte(module), "proto": proto.Encode(m), "gzip": gzipped(t, []byte(module)), "gzip of a proto": gzipped(t, proto.Encode(m)),
		"zstd":        zstd.EncodeTo(nil, []byte(module)),
		"two members": append(gzipped(t, []byte(module[:20])), gzipped(t, []byte(module[20:]))...),
	} {
		got, err := source.Read("f", data, source.Options{})
		if assert.NoError(t, err, what) {
			assert.Equal(t, "e", got.Entry().Name(), what)
		}
	}
	for data, want := range map[string]string{
		"\x0b\xef":                             "f: error: this is a BEF file; want HLO",
		module + "// -----\n" + module:         "f: error: the file holds 2 modules",
		string(gzipped(t, []byte(module))[:9]): "f: error: gzip: the file is cut short",
		string(gzipped(t, gzipped(t, nil))):    "f: error: this is a gzip file",
		"\x00":                                 "f: error: malformed HLO proto: no module in it",
	} {
		_, err := source.Read("f", []byte(data), source.Options{})
		assert.ErrorContains(t, err, want)
	}
}

func TestUnpackLimit(t *testing.T) {
	packed := zstd.EncodeTo(nil, make([]byte, 4<<20))
	require.Less(t, len(packed), 8<<10)
	_, zerr := source.Unpack(packed, 1<<20)
	assert.EqualError(t, zerr, "unpacks to more than 1048576 bytes")
	_, zerr = source.Unpack(packed[:len(packed)-3], 0)
	assert.ErrorContains(t, zerr, "zstd: ")
	bomb := gzipped(t, make([]byte, 4<<20))
	require.Less(t, len(bomb), 8<<10)
	_, err := source.Unpack(bomb, 1<<20)
	assert.EqualError(t, err, "unpacks to more than 1048576 bytes")
	out, err := source.Unpack(bomb, 4<<20)
	require.NoError(t, err)
	assert.Len(t, out, 4<<20)
}

// FuzzDetect looks at anything under any name.
func FuzzDetect(f *testing.F) {
	f.Add("m.mlir", []byte("module attributes {a = \"b"))
	f.Add("m", exported("ML\xefR"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if k := source.Detect(name, data); int(k) >= source.NumKinds {
			t.Errorf("kind %d", k)
		}
	})
}
