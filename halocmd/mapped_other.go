//go:build !unix

package halocmd

// mapFile maps no files: they are read.
func mapFile(string) ([]byte, bool) { return nil, false }

func dropPages([]byte) {}

func unmap([]byte) {}
