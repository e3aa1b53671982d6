package bef

import (
	"bytes"
	"slices"
	"sort"
	"strings"
)

// stringTable finds NUL-terminated strings by their offsets. Any offset is
// good, also one within a string, and costs the same: the ends are indexed, so
// that many offsets into one long string are not many scans of it.
type stringTable struct {
	text string
	ends []uint32 // of the NULs, ascending
}

func newStringTable(b []byte) stringTable {
	t := stringTable{text: string(b), ends: make([]uint32, 0, bytes.Count(b, []byte{0}))}
	for i := 0; i < len(t.text); i++ {
		n := strings.IndexByte(t.text[i:], 0)
		if n < 0 {
			break
		}
		i += n
		t.ends = append(t.ends, uint32(i))
	}
	return t
}

func (t *stringTable) at(off uint64) (string, bool) {
	if off >= uint64(len(t.text)) {
		return "", false
	}
	i := sort.Search(len(t.ends), func(i int) bool { return uint64(t.ends[i]) >= off })
	if i == len(t.ends) {
		return "", false
	}
	return t.text[off:t.ends[i]], true
}

// terminated says that the last string has its NUL.
func (t *stringTable) terminated() bool {
	return t.text == "" || t.text[len(t.text)-1] == 0
}

// stringWriter makes the sorted table of distinct strings.
type stringWriter struct {
	offsets map[string]uint64
	data    []byte
}

func newStringWriter(all []string) stringWriter {
	slices.Sort(all)
	all = slices.Compact(all)
	w := stringWriter{offsets: make(map[string]uint64, len(all))}
	for _, s := range all {
		w.offsets[s] = uint64(len(w.data))
		w.data = append(append(w.data, s...), 0)
	}
	return w
}
