//go:build unix

package attack

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// planted is a program of a kernel that a test has planted.
const planted = `HloModule planted

ENTRY main {
  x = f32[5] parameter(0)
  ROOT r = f32[5] custom-call(x), custom_call_target="test.planted"
}
`

// TestPlantedFaults holds the target to find what it is there for: kernels that write beyond their buffers, or panic, and readers that take too much.
func TestPlantedFaults(t *testing.T) {
	outside := func(at int) func(*runtime.TensorFrame) error {
		return func(f *runtime.TensorFrame) error {
			*(*byte)(unsafe.Add(unsafe.Pointer(&f.Out(0).Data[0]), at)) = 1
			return nil
		}
	}
	for name, run := range map[string]func(*runtime.TensorFrame) error{
		"overrun: byte 0 behind a buffer of 20":  outside(20),
		"overrun: byte 1 before a buffer of 20":  outside(-1),
		"overrun: byte 43 behind a buffer of 20": outside(63),
		"panic":                                  func(*runtime.TensorFrame) error { panic("planted") },
		"runtime error":                          func(f *runtime.TensorFrame) error { f.Out(0).Data[20]++; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			target, err := newTarget()
			require.NoError(t, err)
			target.reg.CustomCall("test.planted", func(*runtime.Binding) (runtime.Bound, error) { return runtime.Bound{Run: run}, nil })
			_, err = target.Text(planted, 1)
			assert.ErrorContains(t, err, name)
		})
	}
	target, err := newTarget()
	require.NoError(t, err)
	_, err = target.Text(planted, 1) // nobody knows the target
	require.NoError(t, err)
	var kept []byte
	_, err = target.read(1, 1, func() (hlo.Module, error) {
		kept = make([]byte, 2*readBytes)
		return hlo.Module{}, errors.New("refused, too late")
	})
	assert.ErrorContains(t, err, "reading and verifying 1 bytes took")
	assert.NotEmpty(t, kept)
}
