package async

import "sync/atomic"

// Leak accounting. Values made while it is on carry bitTracked and are counted
// until published, and until their last reference is gone if they are counted.
// Off, it costs the creation of an unavailable or counted value one load.

var (
	accounting       atomic.Int32 // how many CheckLeaks are active
	liveOpen         atomic.Int64
	liveCounted      atomic.Int64
	liveWaiters      atomic.Int64
	latePublications atomic.Int64
)

// Statistics is what [Stats] returns.
type Statistics struct {
	Open    int64 // tracked values not yet published
	Counted int64 // tracked counted values not yet destroyed
	Waiters int64 // continuations registered on tracked values and not yet run

	// LatePublications counts publications of values that were available
	// already, since the start of the process. They had no effect.
	LatePublications int64
}

// Stats returns the present counts. All but LatePublications cover only values
// made while [CheckLeaks] was active, or all values in debug builds.
func Stats() Statistics {
	return Statistics{
		Open:             liveOpen.Load(),
		Counted:          liveCounted.Load(),
		Waiters:          liveWaiters.Load(),
		LatePublications: latePublications.Load(),
	}
}

// TB is the part of testing.TB that CheckLeaks needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// CheckLeaks fails t at its end if values made from now on are unpublished or
// still referenced then. Accounting is one for the whole process, so t must
// not run in parallel with tests that use async values. Call it first, so that
// it looks last.
func CheckLeaks(t TB) {
	t.Helper()
	accounting.Add(1)
	before := Stats()
	seen := openOrigins()
	t.Cleanup(func() {
		t.Helper()
		accounting.Add(-1)
		now := Stats()
		open, counted, waiters := now.Open-before.Open, now.Counted-before.Counted, now.Waiters-before.Waiters
		if open != 0 || counted != 0 || waiters != 0 {
			t.Errorf("async values leaked: %d unpublished, %d counted, %d waiters%s", open, counted, waiters, originsSince(seen))
		}
	})
}

func track(v *Value) {
	if debug || accounting.Load() > 0 {
		trackSlow(v)
	}
}

// trackSlow runs before v is shared, so it may set the bit plainly.
func trackSlow(v *Value) {
	v.bits |= bitTracked
	if !v.IsAvailable() {
		liveOpen.Add(1)
	}
	if v.IsCounted() {
		liveCounted.Add(1)
	}
	recordOrigin(v)
}

// untrackOpen notes that v was published with the given waiters.
func untrackOpen(v *Value, waiters *Waiter) {
	liveOpen.Add(-1)
	n := 0
	for w := waiters; w != nil; w = w.next {
		n++
	}
	liveWaiters.Add(-int64(n))
	if !v.IsCounted() {
		forgetOrigin(v)
	}
}

// untrackCounted notes that the last reference to v is gone.
func untrackCounted(v *Value) {
	liveCounted.Add(-1)
	if !v.IsAvailable() {
		return // still owed a publication, which is a leak of its own
	}
	forgetOrigin(v)
}

// publishedTwice notes a publication that lost. Racing a cancellation against
// a producer is legitimate, so release builds only count.
func publishedTwice(v *Value, op string) {
	latePublications.Add(1)
	if debug {
		panic("async: " + op + " of a published value: " + v.String() + origin(v))
	}
}
