package proto_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/internal/prototext"
	"github.com/gohalo/halo/printer"
)

// TestText: the text of a module's message reads back to the module, for the corpus' messages and for what text alone has.
func TestText(t *testing.T) {
	paths, _ := filepath.Glob("../../../shared/corpus/proto/*.pb")
	if len(paths) == 0 {
		t.Skip("needs ../shared")
	}
	for i, path := range paths {
		if testing.Short() && i%10 > 0 {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		m, err := proto.Decode(data)
		require.NoError(t, err)
		text, err := proto.EncodeText(m)
		require.NoError(t, err)
		assert.True(t, proto.HasText(text), path)
		again, err := proto.DecodeText(text)
		if !assert.NoError(t, err, path) {
			continue
		}
		// Counts of replicas are fields of ours, which text has not.
		first, second := printer.String(m), printer.String(again)
		_, first, _ = strings.Cut(first, "\n")
		_, second, _ = strings.Cut(second, "\n")
		assert.Equal(t, first, second, path)
	}
}

const textOfModule = `# by hand
hlo_module: < name: 'm' entry_computation_name: "e" entry_computation_id: 1
  host_program_shape { result { element_type: F32 layout { } } }
  computations [ { name: "e", id: 1; root_id: 0x1
    instructions { name: "c" "onst" opcode: "constant" id: 1 shape { element_type: 11 }
      literal { shape { element_type: F32 } f32s: [ - 1.5e0f ] } } } ]
>
`

// TestTextByHand reads what people write: other brackets, lists, numbers for names, strings in parts.
func TestTextByHand(t *testing.T) {
	m, err := proto.DecodeText([]byte(textOfModule))
	require.NoError(t, err)
	assert.Contains(t, printer.String(m), "ROOT %const = f32[] constant(-1.5)")
}

func TestTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"computations { nam: \"e\" }":                                   `1:16: HloComputationProto has no field "nam"; did you mean "name"?`,
		"computations {\n  id: x\n}":                                    `2:7: got "x", want an integer for id`,
		"computations { id: 1 id: 2 }":                                  "1:22: HloComputationProto has one id, and this is the second",
		"computations { name: \"e }":                                    "1:22: this string has no end in its line",
		"computations { name: \"e\\q\" }":                               `1:24: there is no escape \q`,
		"computations {":                                                `1:15: HloComputationProto ends without "}"`,
		"computations { instructions { shape { element_type: F31 } } }": `1:53: got "F31", want one of the enumeration's names for element_type`,
		"computations { id 1 }":                                         `1:19: got "1", want a colon behind id`,
	} {
		_, err := proto.DecodeText([]byte(text))
		at := new(prototext.Error)
		if assert.ErrorAs(t, err, &at, text) {
			assert.Equal(t, want, at.Error(), text)
		}
	}
	_, err := proto.DecodeText([]byte("computations " + strings.Repeat("{ instructions ", 2000)))
	assert.Error(t, err)
}

// FuzzText: no text makes the reader panic, and the message of every text that it takes is read or refused.
func FuzzText(f *testing.F) {
	m, err := parser.Parse("m", "HloModule m\n\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n")
	require.NoError(f, err)
	text, err := proto.EncodeText(m)
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(textOfModule))
	f.Fuzz(func(_ *testing.T, text []byte) {
		_ = proto.HasText(text)
		_, _ = proto.DecodeText(text)
	})
}
