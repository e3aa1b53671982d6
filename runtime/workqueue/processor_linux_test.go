package workqueue

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMoveAway: a thread leaves its processor, and may use the same processors as before.
func TestMoveAway(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &before))
	if before.Count() < 2 {
		t.Skip("there is one processor")
	}
	moved := false
	for range 100 { // the system may move the thread, too
		cpu := processor()
		require.GreaterOrEqual(t, cpu, int32(0))
		moveAway(cpu)
		moved = moved || processor() != cpu
	}
	assert.True(t, moved)
	require.NoError(t, unix.SchedGetaffinity(0, &after))
	assert.Equal(t, before, after)
}

// TestMoveAwayFromTheOnlyOne: a thread that may use one processor stays there.
func TestMoveAwayFromTheOnlyOne(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	var all, one, after unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	cpu := processor()
	require.True(t, all.IsSet(int(cpu)))
	one.Set(int(cpu))
	require.NoError(t, unix.SchedSetaffinity(0, &one))
	moveAway(cpu)
	assert.Equal(t, cpu, processor())
	require.NoError(t, unix.SchedGetaffinity(0, &after))
	assert.Equal(t, one, after)
}
