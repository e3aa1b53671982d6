//go:build !linux

package halocmd

// forgetPages does nothing: only Linux says which pages there are.
func forgetPages() {}
