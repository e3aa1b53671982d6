//go:build !linux

package distributed

import "errors"

var errProcessors = errors.New("processors can be kept for communication on Linux only")

func reserve([]int) error { return errProcessors }

func pin([]int) error { return errProcessors }

// Processors lists those that the process may use.
func Processors() ([]int, error) { return nil, errProcessors }

// Bound reports whether the launcher has given this process fewer processors than it has itself.
func Bound() bool { return false }

func nap() {}
