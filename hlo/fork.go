package hlo

import "fmt"

// forkState is what a session knows of its forks, or of the session it is a fork of.
type forkState struct {
	parent   *Editor
	lent     map[CompID]bool // in a fork: what it may edit besides what it makes; in a parent: what it must not edit
	base     *moduleNode     // in a fork: where it started
	firstID  CompID          // in a fork: of the computations it makes
	nextID   CompID
	limitID  CompID
	children []*Editor // in a parent: open forks
}

func (e *Editor) checkLent(id CompID) {}

func (e *Editor) checkWhole(what string) {
	e.check()
	if e.fork.parent != nil {
		panic(fmt.Sprintf("hlo: %s in a fork, which may edit its own computations only", what))
	}
}

func (e *Editor) checkNotSplit(what string) {}

// newCompID hands out the next computation id.
func (e *Editor) newCompID() CompID { return CompID(e.root.comps.n) }
