package a

import (
	"slices"
	"sort"

	"halo/hlo"
)

type state struct{ dims []int64 }

func throughStructs(in hlo.Instruction) {
	s := state{dims: hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting}
	s.dims[0] = 1 // want `clone it first`
	p := &state{}
	p.dims = hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting
	p.dims[0] = 1 // want `clone it first`
	p.dims = slices.Clone(p.dims)
	p.dims[0] = 1
}

func throughPointers(in hlo.Instruction) {
	in.Common().BackendConfig = "x" // want `clone it first`
	k := in.Common()
	k.BackendConfig = "x" // want `clone it first`
	*k = hlo.Common{}     // want `clone it first`
	mine := *k
	mine.BackendConfig = "x"
	mine.Map["a"] = "b"     // want `clone it first`
	delete(mine.Map, "a")   // want `clone it first`
	mine.Groups[0].IDs[0]++ // want `clone it first`
}

func byRange(in hlo.Instruction) {
	for _, g := range in.Common().Groups {
		g.IDs[0] = 1 // want `clone it first`
		g.IDs = nil
	}
	for _, g := range in.Common().Ptrs {
		g.IDs = nil // want `clone it first`
	}
	for i := range in.Common().Groups {
		in.Common().Groups[i].IDs = nil // want `clone it first`
	}
}

func byAssertion(in hlo.Instruction) {
	if a, ok := in.Attrs().(*hlo.DotAttrs); ok {
		a.LHSContracting[0] = 1 // want `clone it first`
	}
	switch a := in.Attrs().(type) {
	case *hlo.DotAttrs:
		a.LHSContracting = nil // want `clone it first`
	}
	var d = in.Attrs().(*hlo.DotAttrs).LHSContracting
	d[0] = 1 // want `clone it first`
}

func write(n int, list []int64) { list[n] = 1 } // want write:"(writes|gives)"

func writeMore(list []int64) { write(0, list) } // want writeMore:"(writes|gives)"

func first[T any](list []T, v T) { list[0] = v } // want first:"(writes|gives)"

func dims(in hlo.Instruction) []int64 { return hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting } // want dims:"(writes|gives)"

func tail(list []int64) []int64 { return list[1:] } // want tail:"(writes|gives)"

func copied(list []int64) []int64 { return append(list[:0:0], list...) }

func byHelpers(in hlo.Instruction) {
	write(0, hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting) // want `clone it first`
	writeMore(dims(in))                                    // want `clone it first`
	first(dims(in), 3)                                     // want `clone it first`
	tail(dims(in))[0] = 1                                  // want `clone it first`
	copied(dims(in))[0] = 1
	writeMore(copied(dims(in)))
	more := append(dims(in), 1)
	more[0] = 2 // want `clone it first`
}

type byValue []int64

func (b byValue) Len() int           { return len(b) }
func (b byValue) Less(i, j int) bool { return b[i] < b[j] }
func (b byValue) Swap(i, j int)      { b[i], b[j] = b[j], b[i] } // want Swap:"writes"

func byInterfaces(in hlo.Instruction) {
	sort.Sort(byValue(dims(in))) // want `clone it first`
	byValue(dims(in)).Swap(0, 1) // want `clone it first`
	func() {
		list := dims(in)
		list[0] = 1 // want `clone it first`
	}()
}
