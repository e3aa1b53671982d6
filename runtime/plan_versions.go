package runtime

import (
	"slices"
	"sort"
)

// segments are the versions of a space's bytes: sorted, without gaps or overlaps among those that were written.
type segments struct{ list []segment }

type segment struct {
	lo, hi  int64
	version int
}

// uniform returns the version of a range if all of it has one.
func (s *segments) uniform(lo, hi int64) (version int, is bool) {
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].hi > lo })
	if i == len(s.list) || s.list[i].lo > lo {
		return 0, false
	}
	version = s.list[i].version
	for at := lo; ; i++ {
		if i == len(s.list) || s.list[i].lo > at || s.list[i].version != version {
			return 0, false
		}
		if at = s.list[i].hi; at >= hi {
			return version, true
		}
	}
}

// set gives a range a version.
func (s *segments) set(lo, hi int64, version int) {
	first := sort.Search(len(s.list), func(i int) bool { return s.list[i].hi > lo })
	last := first
	var pieces []segment
	for ; last < len(s.list) && s.list[last].lo < hi; last++ {
		if old := s.list[last]; old.lo < lo {
			pieces = append(pieces, segment{old.lo, lo, old.version})
		}
	}
	pieces = append(pieces, segment{lo, hi, version})
	if last > first {
		if old := s.list[last-1]; old.hi > hi {
			pieces = append(pieces, segment{hi, old.hi, old.version})
		}
	}
	s.list = slices.Replace(s.list, first, last, pieces...)
}
