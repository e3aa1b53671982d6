//go:build !unix

package main

import "time"

var began = time.Now()

// processorTime is how long this process has run: there is no better measure here.
func processorTime() time.Duration { return time.Since(began) }
