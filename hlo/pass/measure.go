package pass

import "runtime/metrics"

// allocated is what the process has allocated so far, 0 when it is not wanted: reading it takes as long as a small pass.
func (r *Runner) allocated() int64 {
	if !r.CountMemory {
		return 0
	}
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}
