package runtime

import "math/rand/v2"

// MeterOutside is what executions take as their caller sees them. Times are means, in nanoseconds.
type MeterOutside struct {
	Executions int64   // that were measured, and count
	Timed      int64   // of these, those of which the steps were measured
	Whole      float64 // from Begin to End
	// Entering is the time from Begin to the first step, and Leaving that from the last step to End.
	Entering, Leaving float64
}

// muchLonger is how many times as long as the shortest an execution may take that counts, of those that are alike.
const muchLonger = 1.25

// outside is what a meter measures of executions that are alike.
type outside struct {
	began    int64 // when the one that is under way began
	measured bool  // it is measured
	steps    bool  // and so are its steps
	number   int64 // of executions so far
	due      int64 // execution of which the steps are measured next
	dueWhole int64 // execution that is measured next
	missed   int   // executions in a row of which the steps were measured, and which did not count

	shortest   int64
	whole      int64 // of all that count
	executions int64
	// Of those whose steps are measured:
	timed             int64
	timedWhole        int64
	reads             int64 // of the clock
	entering, leaving int64

	spare spare
}

// spare is the last execution whose steps were measured and which does not count. Where none counts, it has to do.
type spare struct{ whole, entering, leaving int64 }

// Begin begins an execution as its caller sees it. There is one at a time.
func (m *Meter) Begin() {
	o := &m.outside
	o.number++
	o.steps = o.number >= o.due
	o.measured = o.steps || o.number >= o.dueWhole
	if o.measured {
		o.began = m.now()
	}
}

// End ends the execution, and decides whether it counts.
func (m *Meter) End() {
	if !m.outside.measured {
		return
	}
	end := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	o := &m.outside
	whole := end - o.began - m.cost
	first, last, reads := end, o.began, int64(0)
	for _, r := range m.runs {
		if a := r.main.base.meter; r.meter == m && a.counted != nil && a.counted.pending {
			first, last = min(first, a.first), max(last, a.last)
			reads += int64(len(a.ns)) // when it began, and after each step
			reads += r.main.base.readsInJoin(m.cost)
		}
	}
	whole -= reads * m.cost
	counts := o.executions == 0 || float64(whole) <= muchLonger*float64(o.shortest)
	if counts && float64(whole)*muchLonger < float64(o.shortest) { // the others were the disturbed ones
		*o = outside{began: o.began, number: o.number, steps: o.steps, spare: o.meanTimed()}
		m.eachMain((*meter).disturbed)
	}
	if !counts && reads > 0 {
		o.spare = spare{whole, max(first-o.began-m.cost, 0), max(end-last-m.cost, 0)}
	}
	m.eachMain(func(a *meter) { a.settle(counts) })
	switch {
	case reads == 0 && !o.steps:
	case counts || reads == 0 || o.timed >= wanted || o.missed == retries:
		o.due, o.missed = m.later(o.number, reads, whole), 0
	default: // what is looked for is still missing
		o.due = o.number + 1
		o.missed++
	}
	o.dueWhole = m.later(o.number, readsOfEnd, whole)
	if !counts {
		return
	}
	if o.executions == 0 || whole < o.shortest {
		o.shortest = whole
	}
	o.whole += whole
	o.executions++
	if reads > 0 {
		o.entering += max(first-o.began-m.cost, 0)
		o.leaving += max(end-last-m.cost, 0)
		o.timedWhole += whole
		o.reads += reads
		o.timed++
	}
}

// meanTimed is an execution of those whose steps were measured.
func (o *outside) meanTimed() spare {
	if o.timed == 0 {
		return o.spare
	}
	return spare{o.timedWhole / o.timed, o.entering / o.timed, o.leaving / o.timed}
}

// readsInJoin is how often the segments of an execution have read the clock while the execution waited for them, which made it wait longer. That
// is taken from what it waited.
func (a *activation) readsInJoin(cost int64) (reads int64) {
	if a.parallel == nil {
		return 0
	}
	waited := &a.meter.ns[len(a.meter.ns)-1]
	took := int64(0)
	for i := range a.parallel.views[1:] {
		if m := a.parallel.views[i+1].meter; m.counted.pending {
			for pc, ns := range m.ns[:len(a.fn.steps)] {
				if a.fn.segmentOf(pc) == i+1 {
					took += ns + cost
					reads++
				}
			}
		}
	}
	if took > 0 && *waited < took { // in part of the time it had other things to do
		reads = reads * max(*waited, 0) / took
	}
	*waited -= reads * cost
	a.meter.counted.joining = reads
	return reads
}

// later is the execution that is measured next, after one that took so long and in which the clock was read so often: soon at first, and later so that
// the clock takes little of the time. A little chance keeps it from seeing always the same rounds of loops within loops.
func (m *Meter) later(number, reads, took int64) int64 {
	period := min(reads*(m.cost+1)*clockShare/max(took, 1)+1, number)
	return number + 1 + (period-1)/2 + rand.Int64N(period)
}

const (
	// clockShare is how many times as long as reading the clock the executions must be that are not measured. In the midst of an execution
	// the clock takes twice as long as by itself.
	clockShare = 100
	// While fewer than wanted executions count of which the steps are measured, retries in a row are measured when another process disturbs them. Where it
	// always does, more would take too much of the time.
	wanted, retries = 5, 20
	// readsOfEnd is how many times as long as reading the clock End takes.
	readsOfEnd = 8
)

// clockExcess is how much longer reading the clock takes in the midst of an execution than by itself, in nanoseconds: what makes the executions of which the
// steps are measured longer than the others.
func (o *outside) clockExcess() float64 {
	others := o.executions - o.timed
	if o.timed == 0 || others < enoughOthers {
		return 0
	}
	excess := float64(o.timedWhole) - float64(o.whole-o.timedWhole)/float64(others)*float64(o.timed)
	return max(excess, 0) / float64(o.reads)
}

// enoughOthers is how many executions without measured steps it takes to know how long one is.
const enoughOthers = 100

// counted keeps what an activation measured in executions that count.
type counted struct {
	ns      []int64
	spare   []int64 // of one that does not count: see spare
	timed   int64
	inJoin  int64 // how often segments read the clock while this waited for them
	joining int64 // likewise, in the execution whose end is still to come
	pending bool  // there is an execution whose end as a whole is still to come
}

// disturbed forgets what counted so far, since it took too long.
func (m *meter) disturbed() {
	c := m.counted
	if c.timed > 0 {
		c.spare = c.spare[:0]
		for _, ns := range c.ns {
			c.spare = append(c.spare, ns/c.timed)
		}
	}
	clear(c.ns)
	c.timed, c.inJoin = 0, 0
}

// settle adds the execution whose end was still to come to those that count, or forgets it.
func (m *meter) settle(counts bool) {
	if !m.counted.pending {
		return
	}
	if !counts {
		m.counted.spare = append(m.counted.spare[:0], m.ns...)
	} else {
		for i, ns := range m.ns {
			m.counted.ns[i] += ns
		}
		m.counted.timed++
		m.counted.inJoin += m.counted.joining
	}
	m.counted.pending = false
	clear(m.ns)
}

// eachMain calls visit for what executions begin with, if it is measured as one of those that are alike: entry functions and their segments.
func (m *Meter) eachMain(visit func(*meter)) {
	for _, r := range m.runs {
		if r.meter == m {
			r.eachMain(visit)
		}
	}
}

func (r *tensorRun) eachMain(visit func(*meter)) {
	base := r.main.base
	if !r.meter.alike {
		return
	}
	visit(base.meter)
	if p := base.parallel; p != nil {
		for i := range p.views[1:] {
			visit(p.views[i+1].meter)
		}
	}
}

// Outside returns what the executions between Begin and End took.
func (m *Meter) Outside() MeterOutside {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := &m.outside
	out := MeterOutside{Executions: o.executions, Timed: o.timed}
	if o.executions > 0 {
		out.Whole = float64(o.whole) / float64(o.executions)
		if o.timed < o.executions && o.clockExcess() > 0 { // the others are what executions take
			out.Whole = float64(o.whole-o.timedWhole) / float64(o.executions-o.timed)
		}
	}
	if o.timed == 0 {
		out.Whole, out.Entering, out.Leaving = float64(o.spare.whole), float64(o.spare.entering), float64(o.spare.leaving)
	} else {
		out.Entering, out.Leaving = float64(o.entering)/float64(o.timed), float64(o.leaving)/float64(o.timed)
	}
	return out
}
