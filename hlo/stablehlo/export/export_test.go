package export_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/export"
)

// TestVersion12 reads what JAX 0.11.1 writes, which says the true version of the serialization and JAX's own: jax.lax.sin of f32[5,7].
func TestVersion12(t *testing.T) {
	data, err := os.ReadFile("testdata/version12.jax_export")
	require.NoError(t, err)
	f, err := export.Open("version12.jax_export", data)
	require.NoError(t, err)
	require.Equal(t, int64(12), f.Version)
	require.Equal(t, "0.11.1", f.Producer)
	require.Equal(t, "f32[5,7]", f.Arguments[0].String())
	m, err := f.Convert("version12.jax_export", stablehlo.Options{})
	require.NoError(t, err)
	require.Equal(t, "f32[5,7]", f.Results[0].String())
	require.False(t, m.Entry().IsZero())

	data[162] = 99 // the version
	_, err = export.Open("newer.jax_export", data)
	require.ErrorContains(t, err, `version 99 of the serialization (by JAX "0.11.1") is newer than this halo knows`)
}
