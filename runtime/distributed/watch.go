package distributed

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gohalo/halo/runtime/devices"
)

// Control messages have one length. They carry a kind, the sender's rank and a text.
const (
	letterSize = 2048

	saysFailed = 'F' // the sender has failed, and why
	asks       = 'Q' // are you there?
	answers    = 'A' // what the sender is doing
	leaves     = 'L' // the sender has nothing more to do
	allLeave   = 'E' // rank 0: all processes are leaving
)

// control is the part of the loop that talks to the other loops.
type control struct {
	heard   []time.Time // when a process last gave a sign of life
	answers []string    // what it last said it was doing
	left    []bool      // processes that are leaving
	said    bool        // that this one is leaving
	all     bool        // all are
}

// listen waits for the next control message.
func (l *loop) listen() {
	l.post(message{receive: true, context: worldContext, peer: AnyRank, tag: tagControl, data: make([]byte, letterSize)})
}

// tell sends a control message.
func (l *loop) tell(to int, kind byte, text string) {
	letter := make([]byte, letterSize)
	letter[0] = kind
	binary.LittleEndian.PutUint32(letter[1:], uint32(l.rank))
	text = text[:min(len(text), letterSize-9)]
	binary.LittleEndian.PutUint32(letter[5:], uint32(len(text)))
	copy(letter[9:], text)
	l.post(message{context: worldContext, peer: to, tag: tagControl, data: letter})
}

func (l *loop) tellAll(kind byte, text string) {
	for p := range l.size {
		if p != l.rank {
			l.tell(p, kind, text)
		}
	}
}

// hear takes a control message.
func (l *loop) hear(letter []byte, now time.Time) {
	l.listen()
	from, n := int(binary.LittleEndian.Uint32(letter[1:])), int(binary.LittleEndian.Uint32(letter[5:]))
	if from >= l.size || n > letterSize-9 {
		return
	}
	text := string(letter[9:][:n])
	l.heard[from] = now
	switch letter[0] {
	case saysFailed:
		l.fail(&RemoteError{from, text}, true)
	case asks:
		l.tell(from, answers, l.doing(now))
	case answers:
		l.answers[from] = text
	case leaves:
		l.left[from] = true
	case allLeave:
		l.all = true
	}
}

// watchdog is when the loop last looked for waits that are too long, and asked.
type watchdog struct {
	looked, asked, failedAt time.Time
}

// How often the loop looks, when it begins to ask those that it waits for, and how often it does.
const (
	lookEvery = 50 * time.Millisecond
	askAfter  = time.Second
	askEvery  = time.Second
)

// watch looks for failures that are to be told, and for waits that are too long.
func (l *loop) watch(now time.Time) {
	if now.Sub(l.looked) < lookEvery {
		return
	}
	if !l.looked.IsZero() && now.Sub(l.looked) > l.options.Silence/4 { // this process was stopped: it cannot say of others that they were
		for p := range l.heard {
			l.heard[p] = now
		}
	}
	l.looked = now
	l.mu.Lock()
	failure, told := l.failure, l.told
	l.told = l.told || failure != nil
	l.mu.Unlock()
	if failure != nil {
		if !told {
			l.tellAll(saysFailed, failure.Error())
		}
		if l.failedAt.IsZero() {
			l.failedAt = now
		}
		return
	}
	if l.open == 0 {
		return
	}
	waits := l.waits()
	l.ask(waits, now)
	for _, w := range waits {
		if err := l.tooLong(w, now); err != nil {
			l.fail(err, false)
			return
		}
	}
}

// ask asks those that are waited for what they are doing.
func (l *loop) ask(waits []waiting, now time.Time) {
	if now.Sub(l.asked) < askEvery {
		return
	}
	l.asked = now
	asked := make([]bool, l.size)
	for _, w := range waits {
		for _, p := range w.peers {
			if !asked[p] && w.idle(now) >= askAfter {
				asked[p] = true
				l.tell(p, asks, "")
			}
		}
	}
}

// tooLong is the error of a wait that has to end.
func (l *loop) tooLong(w waiting, now time.Time) error {
	idle := w.idle(now)
	if idle > l.options.Silence/2 && !w.noted {
		w.noted = true
		l.options.Log(fmt.Sprintf("%v has waited for %s for %v", w.task, ranks(w.peers), idle.Round(time.Second)))
	}
	for _, p := range w.peers {
		if quiet := min(idle, now.Sub(l.heard[p])); quiet > l.options.Silence {
			return fmt.Errorf("%v: rank %d has given no sign of life for %v", w.task, p, quiet.Round(100*time.Millisecond))
		}
	}
	if l.options.Timeout <= 0 || idle <= l.options.Timeout {
		return nil
	}
	var doing strings.Builder
	for _, p := range w.peers {
		fmt.Fprintf(&doing, "\n  rank %d: %s", p, strings.ReplaceAll(l.answers[p], "\n", "\n    "))
	}
	return fmt.Errorf("%v has waited for %s for %v%s", w.task, ranks(w.peers), idle.Round(100*time.Millisecond), doing.String())
}

// waiting is a task and the processes that it waits for.
type waiting struct {
	*task
	peers []int
}

// waits lists what waits for other processes, and for whom: for those that have to send something, or to take it if that is all. Of what comes
// in two rounds, the first one counts.
func (l *loop) waits() (all []waiting) {
	var kinds []int // of the messages that are waited for: the lowest
	for _, m := range l.messages {
		if m.batch == nil {
			continue
		}
		kind := 2
		switch {
		case m.receive && m.batch.second:
			kind = 1
		case m.receive:
			kind = 0
		}
		i := slices.IndexFunc(all, func(w waiting) bool { return w.task == m.batch.task })
		if i < 0 {
			i = len(all)
			all, kinds = append(all, waiting{task: m.batch.task}), append(kinds, kind)
		}
		if kind < kinds[i] {
			kinds[i], all[i].peers = kind, nil
		}
		if kind == kinds[i] && !slices.Contains(all[i].peers, m.peer) {
			all[i].peers = append(all[i].peers, m.peer)
		}
	}
	for _, w := range all {
		slices.Sort(w.peers)
	}
	return all
}

// doing describes what this process is doing, by lines.
func (l *loop) doing(now time.Time) string {
	var lines []string
	for _, w := range l.waits() {
		lines = append(lines, fmt.Sprintf("%v waits for %s since %v", w.task, ranks(w.peers), w.idle(now).Round(100*time.Millisecond)))
	}
	l.mu.Lock()
	status, leaving := l.status, l.leaving
	l.mu.Unlock()
	switch {
	case leaving:
		lines = append(lines, "it has nothing more to do")
	case status != nil:
		for _, line := range status() {
			if len(lines) == 0 || !strings.HasSuffix(line, devices.AtWork) { // it may wait for another process
				lines = append(lines, line)
			}
		}
	case len(lines) == 0:
		lines = append(lines, "it has not begun to run the program")
	}
	return strings.Join(lines, "\n")
}

// ranks names processes.
func ranks(of []int) string {
	names := make([]string, len(of))
	for i, r := range of {
		names[i] = fmt.Sprint(r)
	}
	if len(of) == 1 {
		return "rank " + names[0]
	}
	return "ranks " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// lastWord is how long after a failure the loop ends the job if the process has not.
const lastWord = 5 * time.Second

// leave ends the loop when all processes are leaving, or when this one is to end them.
func (l *loop) leave(now time.Time) (done bool, err error) {
	l.mu.Lock()
	leaving, abort, failure := l.leaving, l.abort, l.failure
	l.mu.Unlock()
	if failure != nil && abort == 0 && !l.failedAt.IsZero() && now.Sub(l.failedAt) > lastWord {
		l.options.Log(fmt.Sprintf("error: %v; this process does not end by itself", failure))
		abort = 1
	}
	if abort != 0 {
		l.wire.Abort(abort)
		return true, nil
	}
	if !leaving {
		return false, nil
	}
	if !l.said {
		l.said = true
		if l.rank == 0 {
			l.left[0] = true
		} else {
			l.tell(0, leaves, "")
		}
	}
	if l.rank == 0 && !l.all && !slices.Contains(l.left, false) {
		l.all = true
		l.tellAll(allLeave, "")
	}
	if !l.all || l.sending() {
		return false, nil
	}
	select {
	case <-l.parted:
	default:
		close(l.parted)
	}
	if failure != nil {
		return false, nil // Close ends the job
	}
	for _, r := range l.requests {
		l.wire.Cancel(r)
	}
	return true, l.wire.Close()
}

// sending reports whether control messages are on their way.
func (l *loop) sending() bool {
	return slices.ContainsFunc(l.messages, func(m message) bool { return !m.receive && m.batch == nil && m.tag == tagControl })
}
