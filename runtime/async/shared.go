package async

// Chain is the payload of a value that only orders side effects.
type Chain struct{}

// The values that are made once and shared by everybody. They are immutable
// and count no references.
const smallestShared, largestShared = -16, 255

var (
	readyChain   = MakeStatic(Chain{})
	sharedBools  = [2]*Value{MakeStatic(false).v, MakeStatic(true).v}
	sharedInt32s = makeSharedInts[int32]()
	sharedInt64s = makeSharedInts[int64]()
)

func makeSharedInts[T int32 | int64]() (vs [largestShared - smallestShared + 1]*Value) {
	block := new([len(vs)]Concrete[T]) // one allocation, at the start of every process
	for i := range vs {
		block[i].v = T(smallestShared + i)
		block[i].static()
		vs[i] = &block[i].Value
	}
	return vs
}

// ReadyChain returns the shared chain that is already available. Returning it
// costs nothing, and comparing with it tells "done" without looking inside.
func ReadyChain() Ref[Chain] { return readyChain }

// Bool returns the shared value of b.
func Bool(b bool) *Value {
	if b {
		return sharedBools[1]
	}
	return sharedBools[0]
}

// Int32 returns an available value of x, shared if x is small.
func Int32(x int32) *Value { return MakeAvailable(x).v }

// Int64 returns an available value of x, shared if x is small.
func Int64(x int64) *Value { return MakeAvailable(x).v }

// shared returns the preallocated value of x, or nil if there is none, and whether T is a scalar, which is never counted. It looks at the
// type of a pointer, because an x of several words would have to be put on the heap for the question.
func shared[T any](x T) (v *Value, scalar bool) {
	switch p := any(&x).(type) {
	case *int32:
		if x := *p; x >= smallestShared && x <= largestShared {
			return sharedInt32s[x-smallestShared], true
		}
		return nil, true
	case *int64:
		if x := *p; x >= smallestShared && x <= largestShared {
			return sharedInt64s[x-smallestShared], true
		}
		return nil, true
	case *bool:
		return Bool(*p), true
	case *Chain:
		return readyChain.v, true
	}
	return nil, false
}
