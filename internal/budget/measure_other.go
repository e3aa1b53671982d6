//go:build !linux && !darwin

package budget

import "math"

// Total is the size of the machine's memory in bytes, or 0 if it is not known.
func Total() int64 { return 0 }

// AddressSpace is the limit of the process's address space, or 0.
func AddressSpace() int64 { return 0 }

// unknown is what a machine that does not tell is taken to have.
const unknown = 64 << 30

func measure() machine {
	return machine{known: true, left: unknown - readHeap().used, addressSpace: math.MaxInt64}
}
