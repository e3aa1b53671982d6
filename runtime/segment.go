package runtime

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// A function whose plan has segments runs as data flow: its first segment on the fiber that called it, every other one on a fiber of its own as
// soon as the kernels that it waits for have run. Within a segment the driver walks straight on; only between segments are there ready
// counts.

// maxSegments bounds the segments of one function: what happens before what is a table of their square.
const maxSegments = 512

// tensorSegment is a segment as the driver sees it. Segment 0 begins with the function.
type tensorSegment struct {
	first   int // step
	waits   int32
	scratch int64 // where its scratch begins in the function's, and how long it is
	bytes   int64
}

// parallel is one execution of a function with segments: views of the activation, one for each segment but the first, whose program counters
// are their own, and the rest shared.
type parallel struct {
	views  []activation
	fibers []fiber
	waits  []atomic.Int32 // kernels that each waits for
	left   atomic.Int32   // segments that have not ended
	main   *fiber         // that waits in the return
}

// begin makes a ready to run from its first step.
func (a *activation) begin() {
	a.pc, a.phase = 0, 0
	if p := a.parallel; p != nil {
		segments := a.fn.segments
		for i := range segments {
			p.waits[i].Store(segments[i].waits)
		}
		p.left.Store(int32(len(segments)))
	}
}

// notify reports to segments that a kernel they wait for has run, and returns a fiber for one of those that can begin, if the caller can take
// it on; the others go to the queue.
func (f *fiber) notify(a *activation, list []int32, takeOne bool) (taken *fiber) {
	p := a.parallel
	for _, i := range list {
		if p.waits[i].Add(-1) != 0 {
			continue
		}
		s := &p.fibers[i]
		s.executor = f.executor
		s.start()
		f.run.pending.Add(1)
		if takeOne && taken == nil {
			f.run.awake()
			taken = s
			continue
		}
		s.wake()
	}
	return taken
}

// endSegment ends the fiber of a segment, which may have been cut short: then the notices that it still owes are given, so that whoever waits
// for the end of the function gets there. It returns a fiber to go on with.
func (f *fiber) endSegment() (next *fiber) {
	a := f.base
	p := a.parallel
	for pc := a.pc; ; pc++ {
		s := &a.fn.steps[pc]
		if len(s.notices) > 0 {
			if taken := f.notify(a, s.notices, next == nil); taken != nil {
				next = taken
			}
		}
		if s.kind == stepSegmentEnd {
			break
		}
	}
	if p.left.Add(-1) == 0 {
		f.run.awake()
		next = p.main // nothing else was left, so there is no other
	}
	return next
}

// joinSegments lets a function return when all of its segments have ended.
func (f *fiber) joinSegments(a *activation) outcome {
	const joining = 1
	if a.phase == joining {
		a.phase = 0
		return proceed
	}
	p := a.parallel
	a.phase = joining
	p.main = f
	if p.left.Add(-1) != 0 {
		return suspended
	}
	a.phase = 0
	return proceed
}

// segmentLoader follows the plan while kernels become steps.
type segmentLoader struct {
	t       *tensorFunction
	plan    []Segment
	current int // segment
	end     int // kernel after its last
	notices [][]int32
	before  [][]int // by segment: the last kernel of each other one that has run when it begins, or -1
	of      []int   // segment of each kernel

	beforeReturn func() // appends what comes before the return
}

// newSegmentLoader checks the segments of a plan; nil if there is only one.
func newSegmentLoader(t *tensorFunction, plan []Segment, kernels int) (*segmentLoader, error) {
	if len(plan) <= 1 {
		return nil, nil
	}
	if len(plan) > maxSegments {
		return nil, fmt.Errorf("%d segments, the limit is %d", len(plan), maxSegments)
	}
	l := &segmentLoader{t: t, plan: plan, notices: make([][]int32, kernels+1), of: make([]int, kernels)}
	t.segments = make([]tensorSegment, len(plan))
	first := 0
	for i, s := range plan {
		if s.Kernels < 0 || s.Kernels > kernels-first || i == 0 && len(s.After) > 0 {
			return nil, fmt.Errorf("segment %d: %d kernels after %v, the function has %d", i, s.Kernels, s.After, kernels)
		}
		before := slices.Repeat([]int{-1}, len(plan))
		waits := int32(0)
		for n, k := range s.After {
			if k < 0 || k >= first || n > 0 && k <= s.After[n-1] {
				return nil, fmt.Errorf("segment %d begins at kernel %d and waits for kernel %d, out of order", i, first, k)
			}
			from := l.of[k]
			for j, x := range l.before[from] {
				before[j] = max(before[j], x)
			}
			before[from] = max(before[from], k)
			l.notices[k+1] = append(l.notices[k+1], int32(i))
			waits++
		}
		if i > 0 && waits == 0 { // it begins with the function
			l.notices[0] = append(l.notices[0], int32(i))
			waits = 1
		}
		t.segments[i].waits = waits
		l.before = append(l.before, before)
		for k := range s.Kernels {
			l.of[first+k] = i
		}
		first += s.Kernels
	}
	if first != kernels {
		return nil, fmt.Errorf("segments of %d kernels, the function has %d", first, kernels)
	}
	l.end = plan[0].Kernels
	return l, nil
}

// reach comes to kernel k: what the one before owed is paid, and segments before it end. The first kernel's is 0, and the end of the function that
// after the last.
func (l *segmentLoader) reach(k int) {
	if l == nil {
		return
	}
	if n := l.notices[k]; len(n) > 0 {
		l.t.steps = append(l.t.steps, step{kind: stepNotify, kernel: -1, site: -1, notices: n})
	}
	for k == l.end && l.current < len(l.plan)-1 {
		l.finish()
		l.current++
		l.t.segments[l.current].first = len(l.t.steps)
		l.end += l.plan[l.current].Kernels
	}
}

// finish ends the current segment. Notices at its very end are given by whoever ends it.
func (l *segmentLoader) finish() {
	t := l.t
	if l.current == 0 {
		l.beforeReturn()
		t.steps = append(t.steps, step{kind: stepReturn, kernel: -1, site: -1})
		return
	}
	end := step{kind: stepSegmentEnd, kernel: -1, site: -1}
	if last := len(t.steps) - 1; last >= t.segments[l.current].first && t.steps[last].kind == stepNotify {
		end.notices = t.steps[last].notices
		t.steps = t.steps[:last]
	}
	t.steps = append(t.steps, end)
}

// sees reports whether what kernel k computes may be read in the segment of kernel at.
func (l *segmentLoader) sees(at, k int) bool {
	return l == nil || l.of[at] == l.of[k] || l.before[l.of[at]][l.of[k]] >= k
}

// straighten puts the steps of all segments in one sequence where one worker runs them and none of them waits for anything: taking turns would
// gain nothing. Kernels are in an order in which each comes after what it needs.
func (t *tensorFunction) straighten() {
	steps := t.steps[:0:0]
	end := step{kind: stepReturn, kernel: -1, site: -1}
	for i := range t.steps {
		switch s := &t.steps[i]; s.kind {
		case stepNotify, stepSegmentEnd, stepReturn:
		default:
			steps = append(steps, *s)
		}
	}
	t.steps, t.segments = append(steps, end), nil
}

// hasToWait reports whether t, or what it calls, has steps during which nothing is computed.
func (t *tensorFunction) hasToWait() bool {
	return slices.ContainsFunc(t.steps, func(s step) bool {
		switch s.kind {
		case stepAsyncKernel, stepAsyncStart, stepAsyncUpdate, stepAsyncDone, stepAwaitArgument:
			return true
		}
		return slices.ContainsFunc(s.callees, func(c *tensorFunction) bool { return c.waits })
	})
}

// giveScratch divides the scratch of the function among its segments: those that never run at the same time may have the same. It returns the sum.
func (l *segmentLoader) giveScratch(bytes []int64) (sum int64) {
	type place struct {
		bytes int64
		last  int // segment
	}
	var places []place
	last := 0 // kernel
	ends := make([]int, len(l.plan))
	slot := make([]int, len(l.plan))
	for i, s := range l.plan {
		last += s.Kernels
		ends[i] = last - 1
		slot[i] = slices.IndexFunc(places, func(p place) bool {
			return p.last != 0 && l.before[i][p.last] == ends[p.last] && l.plan[p.last].Kernels > 0
		})
		if slot[i] < 0 {
			slot[i] = len(places)
			places = append(places, place{})
		}
		p := &places[slot[i]]
		p.bytes, p.last = max(p.bytes, bytes[i]), i
	}
	offsets := make([]int64, len(places))
	for i, p := range places {
		offsets[i] = sum
		sum += p.bytes
	}
	for i := range l.plan {
		l.t.segments[i].scratch, l.t.segments[i].bytes = offsets[slot[i]], bytes[i]
	}
	return sum
}

// segmentOf is the segment that step i belongs to.
func (t *tensorFunction) segmentOf(i int) int {
	n, found := slices.BinarySearchFunc(t.segments, i, func(s tensorSegment, i int) int { return s.first - i })
	if !found {
		n--
	}
	return n
}
