package budget_test

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/budget"
)

func TestCheck(t *testing.T) {
	assert.NoError(t, budget.Check("a page", 4096))
	for _, bytes := range []int64{-1, math.MinInt64, math.MaxInt64, 1 << 55} {
		err := budget.Check("a file's array", bytes)
		var e *budget.Error
		require.True(t, errors.As(err, &e), "%d", bytes)
		assert.Contains(t, err.Error(), "a file's array needs")
		assert.Positive(t, e.Need)
	}
}

func TestSetLimit(t *testing.T) {
	defer budget.SetLimit(0)
	budget.SetLimit(64 << 20)
	assert.NoError(t, budget.Check("some", 8<<20))
	assert.Error(t, budget.Check("more", 80<<20))
	assert.Less(t, budget.Left(), int64(64<<20))
	assert.LessOrEqual(t, budget.CollectorLimit(), int64(64<<20))
	garbage := make([]byte, 50<<20)
	garbage[0] = 1
	garbage = nil
	assert.NoError(t, budget.Check("what is free after a collection", 40<<20))
}

func TestWatch(t *testing.T) {
	defer budget.SetLimit(0)
	budget.SetLimit(1)
	seen := make(chan *budget.Error, 1)
	stop := budget.Watch(func(e *budget.Error) { seen <- e })
	defer stop()
	select {
	case e := <-seen:
		assert.Positive(t, e.Need)
	case <-time.After(time.Minute):
		t.Fatal("nothing was said")
	}
}

// TestAddressSpace asks for more than a limit of address space has room for, in a process of its own.
func TestAddressSpace(t *testing.T) {
	if os.Getenv("BUDGET_TEST_CHILD") != "" {
		if err := budget.Check("an array", 4<<30); err != nil {
			os.Stdout.WriteString(err.Error())
			os.Exit(0)
		}
		_ = make([]byte, 4<<30)
		os.Exit(0)
	}
	cmd := exec.Command("sh", "-c", "ulimit -v 3000000 && exec \"$0\" -test.run TestAddressSpace", os.Args[0])
	cmd.Env = append(os.Environ(), "BUDGET_TEST_CHILD=1")
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(string(out), "ulimit") {
		t.Skipf("no limits here: %s", out)
	}
	require.NoError(t, err, string(out))
	if budget.AddressSpace() == 0 && strings.Contains(string(out), "needs") {
		assert.Contains(t, string(out), "an array needs 4294967296 bytes")
	}
}
