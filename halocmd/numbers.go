package halocmd

import (
	"fmt"
	"strconv"
)

// natural is a number of things in flags, at least 0 and few enough to be counted.
type natural int

const maxNatural = 1 << 30

// UnmarshalText reads a number.
func (n *natural) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || v < 0 || v > maxNatural {
		return fmt.Errorf("want a number from 0 to %d", maxNatural)
	}
	*n = natural(v)
	return nil
}

// threadCount is a number of workers; 0 is one for each processor.
type threadCount int

// maxThreads bounds the workers: each has a stack, and more than processors are of no use.
const maxThreads = 1 << 12

// UnmarshalText reads a number.
func (n *threadCount) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || v < 0 || v > maxThreads {
		return fmt.Errorf("want a number of threads up to %d, or 0 for one on each processor", maxThreads)
	}
	*n = threadCount(v)
	return nil
}
