package runtime

// Tracer sees what an execution does. Begin and End nest within a lane; lanes are independent of each other, and one lane
// is used by one goroutine at a time. Implementations must be safe for concurrent use.
type Tracer interface {
	Begin(lane int, category, name string)
	End(lane int, category, name string)
}

// Categories of trace events.
const (
	traceKernel   = "kernel"
	traceFunction = "function"
)
