//go:build !haloeager

package tile

// payingWork is the work, in elements times weight, after which code is made: what that costs is about what it saves on as much again. The build tag
// haloeager makes code at the first run, so that tests of whole programs reach it.
const payingWork = 1 << 20
