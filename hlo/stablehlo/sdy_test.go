package stablehlo_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/bytecode"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/internal/moddiff"
	"github.com/gohalo/halo/printer"
)

// TestShardyBytecode holds the attributes and operations of Shardy in bytecode to the same program as text. The file has each of them at
// least once; jaxlib 0.11.1 wrote both.
func TestShardyBytecode(t *testing.T) {
	text, err := os.ReadFile("bytecode/testdata/sdy.mlir")
	require.NoError(t, err)
	want, err := mlir.Parse("sdy.mlir", string(text))
	require.NoError(t, err)
	data, err := os.ReadFile("bytecode/testdata/sdy.mlirbc")
	require.NoError(t, err)
	got, err := bytecode.Decode("sdy.mlirbc", data)
	require.NoError(t, err)

	texts := shardyTexts(want)
	require.Len(t, texts, 26)
	require.Equal(t, texts, shardyTexts(got))

	theirs, err := stablehlo.Convert(want, stablehlo.Options{})
	require.NoError(t, err)
	mine, err := stablehlo.Convert(got, stablehlo.Options{})
	require.NoError(t, err)
	d := moddiff.Find(theirs, mine)
	require.True(t, d.Equal(), "%s", describe(d))
	root := mine.Entry().Root()
	require.Equal(t, hlo.OpTuple, root.Opcode())
}

// shardyTexts are the attributes of a program that are text, by the operation and their name, from where the syntax of an operation has
// them.
func shardyTexts(m *mlir.Module) (texts []string) {
	var attrs func(at string, list mlir.Attrs)
	attrs = func(at string, list mlir.Attrs) {
		for _, a := range list {
			switch v := a.Value.(type) {
			case mlir.Text:
				s := string(v)
				for _, prefix := range []string{"#sdy.mesh", "#sdy.sharding_per_value<", "#sdy.sharding", "#sdy<manual_axes"} {
					if rest, ok := strings.CutPrefix(s, prefix); ok {
						s = rest
						break
					}
				}
				if strings.HasPrefix(string(v), "#sdy.sharding_per_value<") || strings.HasPrefix(string(v), "#sdy<manual_axes") {
					s = strings.TrimSuffix(s, ">")
				}
				texts = append(texts, at+" "+a.Name+" "+s)
			case mlir.Array:
				for _, x := range v {
					if d, ok := x.(mlir.Dict); ok {
						attrs(at+" "+a.Name, mlir.Attrs(d))
					}
				}
			}
		}
	}
	for _, op := range m.Ops {
		op.Walk(func(op *mlir.Op) {
			list := op.Attrs
			if op.Name == "sdy.manual_computation" { // in text, in the order of its syntax
				list = nil
				for _, name := range []string{"in_shardings", "manual_axes", "out_shardings"} {
					list = append(list, mlir.NamedAttr{Name: name, Value: op.Attrs.Get(name)})
				}
			}
			attrs(op.Name, list)
		})
	}
	return texts
}

// TestShardyGeneric: the generic form of a manual computation has its attributes in full, and becomes the same.
func TestShardyGeneric(t *testing.T) {
	const program = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = MANUAL
  return %0 : tensor<4xf32>
}`
	const body = `
    %1 = stablehlo.negate %b : tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  }`
	var texts []string
	for _, manual := range []string{
		`sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {` + body +
			` : (tensor<4xf32>) -> tensor<4xf32>`,
		`"sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>,
  out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%b: tensor<2xf32>):` + body + `) : (tensor<4xf32>) -> tensor<4xf32>`,
	} {
		p, err := mlir.Parse("manual.mlir", strings.Replace(program, "MANUAL", manual, 1))
		require.NoError(t, err)
		m, err := stablehlo.Convert(p, stablehlo.Options{})
		require.NoError(t, err)
		out, err := printer.Append(nil, m, printer.Default)
		require.NoError(t, err)
		texts = append(texts, string(out))
	}
	require.Contains(t, texts[0], `xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"`)
	require.Equal(t, texts[0], texts[1])
}

// TestShardyBytecodeBroken: a file that is cut short or has a byte changed is read or refused.
func TestShardyBytecodeBroken(t *testing.T) {
	data, err := os.ReadFile("bytecode/testdata/sdy.mlirbc")
	require.NoError(t, err)
	refused := 0
	for i := range data {
		for _, flip := range []byte{1, 2, 0xff} {
			broken := append([]byte{}, data...)
			broken[i] ^= flip
			p, err := bytecode.Decode("broken.mlirbc", broken)
			if err != nil {
				require.ErrorContains(t, err, "byte ")
				refused++
				continue
			}
			convert(t, p)
		}
	}
	require.Greater(t, refused, len(data))
	_, err = bytecode.Decode("short.mlirbc", data[:len(data)/2])
	require.Error(t, err)
}
