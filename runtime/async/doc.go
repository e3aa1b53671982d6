// Package async holds values that may not exist yet.
//
// A [Value] starts unavailable and becomes, exactly once, either concrete (it
// has a payload) or an error (it has a [Status]). Nobody waits for it: whoever
// needs the value leaves a continuation with AndThen, and the goroutine that
// publishes the value runs the continuations it finds. Availability is final;
// after it, payload and status never change.
//
//	sum := async.MakeUnconstructed[int32]()
//	twice := async.Map(sum, func(x int32) int32 { return 2 * x })
//	sum.Emplace(21) // runs the mapping; twice.Get() == 42
//
// The types to know:
//
//   - [Value] is the header every value begins with, and the type-erased
//     handle that registers, frames and executors pass around.
//   - [Concrete] is a Value with room for a payload of one type; [Indirect] is
//     a Value that forwards to another one chosen later.
//   - [Ref] owns one reference and knows the payload type; [Ptr] knows the
//     type and owns nothing.
//   - [Waiter] is a continuation's list node. It can be embedded in the object
//     that waits, so that waiting allocates nothing.
//   - [Ready] is the list of continuations a publication released. A waiter
//     returns the Ready of what it published instead of running it, so long
//     chains of values run as a loop and not as a recursion.
//
// On top stand Map, TryMap and FlatMap, [CountDown], [RunWhenReady],
// [MakeAsync], and the [Promise] and [Future] pair. [BlockUntilReady] and
// [Await] are the only functions that block; they are for goroutines outside
// the worker pools.
//
// # Reference counts
//
// Memory belongs to the collector. Counts answer two other questions: may the
// payload be released now, and may its last holder overwrite it. They are kept
// for values whose payload type implements [Counted], and for indirects,
// which may come to stand for such a value; for all others AddRef and DropRef
// do nothing. The convention is TFRT's: arguments are borrowed, results are
// given away with one reference.
//
// # Debug builds
//
// The build tag halodebug records where each open or counted value was made,
// turns double publication into a panic and checks Get. [CheckLeaks] works
// with and without the tag; with it, leaks are reported with their stacks.
package async
