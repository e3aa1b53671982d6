package square

import "testing"

// TestNarrow is TestTranspose on a processor without vectors of 512 bits.
func TestNarrow(t *testing.T) {
	had := hasWide
	defer func() { hasWide = had }()
	hasWide = false
	TestTranspose(t)
}
