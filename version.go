package halo

import "runtime/debug"

const modulePath = "github.com/gohalo/halo"

// Version is the version of halo that the program was built from, whatever the program's own is.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == modulePath && m.Version != "" {
				return "halo " + m.Version
			}
		}
	}
	return "halo (devel)"
}
