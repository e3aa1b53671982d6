package runtime

import "math"

// The last step of loading: what an instance of a function takes with all that it calls, held against the limits before anything is allocated.

// maxInstanceRegisters bounds the registers of all activations of an instance. Every call site has its own activation,
// so a chain of functions that call each other twice doubles at each level.
const maxInstanceRegisters = 1 << 22

// size sums up what an instance needs, and with it an execution.
func (l *tensorLoader) size(t *tensorFunction) error {
	t.totalRegs = int64(len(t.regs))
	limit := l.program.options.maxBytes()
	if total := t.bytes(); total > limit && l.program.isEntry(t.fn) {
		return l.fail(t.fn, t.fn.Location(), "", "needs %d bytes for arguments, results and arena, the limit is %d", total, limit)
	}
	own := make([]int64, max(len(t.segments), 1)) // scratch of each segment
	for i := range t.steps {
		s := &t.steps[i]
		scratch := &own[0]
		if len(t.segments) > 0 {
			scratch = &own[t.segmentOf(i)]
		}
		*scratch = max(*scratch, alignUp(s.scratch, BufferAlign))
		t.forks = t.forks || s.kind == stepAsyncStart || s.kind == stepNotify
		t.kept = saturatingAdd(t.kept, s.keptBytes())
		for _, c := range s.callees {
			t.kept = saturatingAdd(t.kept, c.kept)
			t.forks = t.forks || c.forks
			t.asyncScratch += c.asyncScratch
			if s.kind == stepAsyncStart {
				t.asyncScratch += c.scratch
			} else {
				*scratch = max(*scratch, c.scratch)
			}
			t.totalRegs += c.totalRegs
			if t.totalRegs > maxInstanceRegisters || t.asyncScratch > limit || t.kept > limit {
				return l.fail(t.fn, t.fn.Location(), "", "too large: its calls expand to more than %d registers or %d bytes of scratch", maxInstanceRegisters, limit)
			}
		}
	}
	t.scratch, t.parts = own[0], t.countParts()
	if t.loader != nil {
		t.scratch = t.loader.giveScratch(own)
		t.loader = nil
		if t.scratch > limit {
			return l.fail(t.fn, t.fn.Location(), "", "needs %d bytes of scratch, the limit is %d", t.scratch, limit)
		}
	}
	return nil
}

// working is the memory of an instance beside its frame.
func (t *tensorFunction) working() int64 { return t.scratch + t.asyncScratch + t.kept }

// bytes is the memory of an execution: arguments, results and arena.
func (t *tensorFunction) bytes() int64 {
	total := t.frame
	for i := range t.numArgs {
		total = saturatingAdd(total, t.argType(i).Bytes)
	}
	for i := range t.results {
		total = saturatingAdd(total, t.resultType(i).Bytes)
	}
	return total
}

func saturatingAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
