//go:build haloeager

package tile

// payingWork is none: code is made at the first run.
const payingWork = 1
