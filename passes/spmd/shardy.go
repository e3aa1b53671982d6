package spmd

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// withoutShardy is frontend attributes without those of Shardy; nil if none are left.
func withoutShardy(f *hlo.FrontendAttributes) *hlo.FrontendAttributes {
	if f == nil {
		return nil
	}
	kept := &hlo.FrontendAttributes{}
	for _, e := range f.Entries {
		if !strings.HasPrefix(e.Key, "xla.sdy.") && e.Key != "inlineable" {
			kept.Entries = append(kept.Entries, e)
		}
	}
	if len(kept.Entries) == 0 {
		return nil
	}
	if len(kept.Entries) == len(f.Entries) {
		return f
	}
	return kept
}
