package processor_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/processor"
)

// TestAMDFamily compares with what the system says.
func TestAMDFamily(t *testing.T) {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("the system has no /proc/cpuinfo")
	}
	want := 0
	if strings.Contains(string(data), "AuthenticAMD") {
		m := regexp.MustCompile(`(?m)^cpu family\s*: (\d+)`).FindSubmatch(data)
		require.NotNil(t, m)
		want, err = strconv.Atoi(string(m[1]))
		require.NoError(t, err)
	}
	require.Equal(t, want, processor.AMDFamily())
}
