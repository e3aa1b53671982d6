//go:build !linux

package workqueue

// processor is unknown here.
func processor() int32 { return -1 }

func moveAway(int32) {}
