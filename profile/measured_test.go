package profile_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/profile"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
)

// TestMeasurements: a profile read back knows every kernel that ran, under the names of the module that ran; and every one that the text has a part in,
// under those of the text.
func TestMeasurements(t *testing.T) {
	for _, program := range []string{"mlp_step", "transformer_block", "convnet", "async_overlap", "torch_step"} {
		t.Run(program, func(t *testing.T) {
			meter := runtime.NewMeter(runtime.MeterOptions{Alike: true})
			p, text, args := compiled(t, "../testdata/run/"+program+"/prog.hlo", meter)
			meter.Begin()
			_, err := p.Run(t.Context(), args...)
			meter.End()
			require.NoError(t, err)
			lowered, ok := kernels.Module(p.Runtime())
			require.True(t, ok)
			made := profile.New(p.Runtime(), meter, profile.Config{Runs: 1, Threads: 1, Rates: analysis.OneCore, Module: lowered, Text: text})
			written, err := json.Marshal(map[string]any{"profile": made})
			require.NoError(t, err)
			all, err := profile.Read(bytes.NewReader(written))
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.Equal(t, made.Ops, all[0].Ops)

			ran, read := all[0].For(lowered), all[0].For(text)
			found := map[string]bool{} // instructions of the text, and what they were measured within
			for c := range text.Computations() {
				for in := range c.Instructions() {
					if x, ok := read.Of(in); ok {
						found[in.Name()] = true
						for _, name := range x.Within {
							found[name] = true
						}
					}
				}
			}
			n := 0
			for i := range all[0].Ops {
				o := &all[0].Ops[i]
				if o.Kind != profile.Kernel {
					continue
				}
				n++
				name := o.As
				if name == "" {
					name = o.Name
				}
				c, ok := lowered.ComputationByName(o.Computation)
				require.True(t, ok)
				in, ok := c.ByName(name)
				require.True(t, ok, name)
				x, ok := ran.Of(in)
				assert.True(t, ok, name)
				assert.Equal(t, profile.Measured{Calls: o.Calls, Seconds: o.Seconds}, x, name)
				assert.True(t, found[name] || found[o.Name], "%s, which stands for %v", name, o.Of)
			}
			assert.NotZero(t, n)
		})
	}
}

// TestRead: what is not a profile is refused, and programs that failed have none.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		``:                               "no profile is in it",
		`{"file":"a.hlo","ok":false}`:    "no profile is in it",
		`{"profile":{"ops":7}}`:          "not what halo profile --json writes",
		`{"profile":{"module":"m"`:       "not what halo profile --json writes",
		`{"profile":{"tree":{"op":-2}}}`: "names an op that it does not have",
		`{"profile":{"tree":{"op":-1,"children":[null]}}}`: "names an op that it does not have",
	} {
		_, err := profile.Read(strings.NewReader(text))
		assert.ErrorContains(t, err, want, text)
	}
	all, err := profile.Read(strings.NewReader(`{"ok":false} {"profile":{"module":"a"}} {"profile":{"module":"b"}}`))
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, "b", all[1].Module)
}
