package analysis

import "github.com/gohalo/halo/hlo"

// Computations is where callees are found: an [hlo.Module] has them as they are in one version, and [Now] as a session has them at the moment.
type Computations interface {
	MustComputation(id hlo.CompID) hlo.Computation
}

// Now looks callees up in a session.
func Now(e *hlo.Editor) Computations { return now{e} }

type now struct{ e *hlo.Editor }

func (n now) MustComputation(id hlo.CompID) hlo.Computation { return n.e.View(id) }
