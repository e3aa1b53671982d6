//go:build !unix

package bef

func mapFile(path string) ([]byte, func() error, error) { return readFile(path) }
