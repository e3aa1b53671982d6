package runtime

// Kernel is a general kernel: async values in, async values out.
type Kernel struct {
	Run func(*Frame)
}
type Frame struct{}
type SyncKernel struct{}
type NativeFunction struct{}
