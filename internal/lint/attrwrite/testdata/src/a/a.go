package a

import (
	"slices"

	"halo/hlo"
)

func direct(in hlo.Instruction) {
	hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting[0] = 1 // want `writes into a slice that belongs to an instruction's attributes`
}

func throughCopies(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.DotAttrs](in)
	dims := a.LHSContracting[1:]
	dims[0]++ // want `clone it first`
	b := *in.Attrs().(*hlo.DotAttrs)
	b.LHSContracting[0] += 2 // want `clone it first`
}

func byCalls(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.DotAttrs](in)
	slices.Sort(a.LHSContracting)        // want `clone it first`
	slices.Reverse(a.LHSContracting[1:]) // want `clone it first`
	copy(a.LHSContracting, []int64{1})   // want `clone it first`
	clear(a.LHSContracting)              // want `clone it first`
	_ = append(a.LHSContracting[:1], 2)  // want `clone it first`
	_ = append(a.LHSContracting, 2)
	_ = append([]int64(nil), a.LHSContracting[:1]...)
	slices.Sort(slices.Clone(a.LHSContracting))
}

func cloned(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.DotAttrs](in)
	a.LHSContracting = slices.Clone(a.LHSContracting)
	a.LHSContracting[0] = 1
	dims := slices.Clone(hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting)
	dims[0] = 2
	made := hlo.DotAttrs{LHSContracting: []int64{1}}
	made.LHSContracting[0] = 3
}
