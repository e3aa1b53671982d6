package analysis

import "github.com/gohalo/halo/hlo"

// IsSharded reports whether a sharding says which parts of in devices have.
func IsSharded(in hlo.Instruction) bool { return in.Common() != nil && in.Common().Sharding != nil }
