//go:build unix

package halocmd

import (
	"fmt"
	"os"
	"syscall"
)

// execute replaces the process by a program.
func execute(path string, args []string) error {
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, args, os.Environ()))
}
