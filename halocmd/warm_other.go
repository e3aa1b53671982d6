//go:build !linux

package halocmd

// warm does nothing: this system has no means to map pages in advance.
func warm() {}

// warmMore does nothing either.
func warmMore() {}
