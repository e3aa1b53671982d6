package halocmd

import "runtime/debug"

// version is the module version that the binary was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return "halo " + info.Main.Version
	}
	return "halo (devel)"
}
