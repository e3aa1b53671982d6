package bef

import (
	"os"
)

// Mapped is a File and the memory it lies in. Constants are read from the file
// as they are used.
type Mapped struct {
	*File
	unmap func() error
}

// Open maps a file into memory and decodes it; where that is not possible it
// reads it. Constants, locations and extensions may be used until Close.
func Open(path string, o DecodeOptions) (*Mapped, error) {
	b, unmap, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Decode(b, o)
	if err != nil {
		unmap()
		return nil, err
	}
	return &Mapped{File: f, unmap: unmap}, nil
}

// Close releases the memory. It may be called again.
func (m *Mapped) Close() error {
	unmap := m.unmap
	if unmap == nil {
		return nil
	}
	m.unmap = nil
	return unmap()
}

func readFile(path string) ([]byte, func() error, error) {
	b, err := os.ReadFile(path)
	return b, func() error { return nil }, err
}
