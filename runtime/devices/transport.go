package devices

import "github.com/gohalo/halo/hlo"

// Transport carries values between the processes that share a mesh. Its calls do not wait: each begins something, and a callback says when it
// is done, once, on any goroutine. It must not be called back before the call has returned.
//
// Every process executes the same module, so names of instructions, counts and shapes agree on both sides.
type Transport interface {
	// Bind gives the transport the mesh that it carries for, once, before any other call. When another process fails, the transport calls
	// Mesh.Fail.
	Bind(m *Mesh)
	// Holds reports whether a device runs in this process.
	Holds(d Device) bool
	// Exchange fills in what the members of other processes bring to a meeting, of which every visitor of this process has come. Group, Name
	// and Count name the meeting in all processes. The operands of local visitors must not be read after done was called.
	Exchange(t *Meeting, done func(error))
	// Send gives a letter to a device of another process. Receive asks for the next letter from one, of shape s.
	Send(l Letter, value *hlo.Literal, done func(error))
	Receive(l Letter, s hlo.Shape, done func(*hlo.Literal, error))
	// Fail reports to the other processes that this one has failed.
	Fail(err error)
}

// Letter names what one device sends to another: letters of one channel and pair arrive in the order in which they were sent.
type Letter struct {
	Channel  int64
	From, To Device
}
