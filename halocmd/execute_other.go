//go:build !unix

package halocmd

import "fmt"

func execute(path string, _ []string) error {
	return fmt.Errorf("%s: programs run in one process on this system", path)
}
