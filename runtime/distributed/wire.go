package distributed

// Wire carries messages between the processes of a job, as MPI does. All methods are called by one goroutine, which is locked to its thread.
// None but Split waits for another process.
//
// Messages from one process to another with the same context and tag arrive in the order in which they were sent, each in the memory of the receive that
// was begun in that place; both have the same length.
type Wire interface {
	// Rank is the number of this process, of Size.
	Rank() int
	Size() int
	// MaxTag is the largest tag.
	MaxTag() int
	// Split makes a context for messages among the processes that have the same color; a process whose color is negative takes no part. All
	// processes of the job call it with the same colors, in the same order. Context 0 is there from the start, for all.
	Split(colors []int) (context int, err error)
	// Send and Receive begin to move a message. The memory must neither be written (sent data), nor read or written (received data) until the
	// request is complete. From AnyRank a message comes from whoever sent one.
	Send(context, to, tag int, data []byte) (Request, error)
	Receive(context, from, tag int, into []byte) (Request, error)
	// Test moves messages on and appends the indices of the requests that have become complete to done. Those become NoRequest.
	Test(requests []Request, done []int) ([]int, error)
	// Cancel gives up a receive that nothing will be sent for.
	Cancel(Request)
	// Yield lets other threads of the machine run.
	Yield()
	// Abort ends all processes of the job, this one too, with an exit status.
	Abort(code int)
	// Close ends the use of the wire. All processes call it.
	Close() error
}

// Request is a message that is on its way.
type Request uintptr

// NoRequest is none.
const NoRequest Request = 0

// AnyRank is no particular process.
const AnyRank = -1
