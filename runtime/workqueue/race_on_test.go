//go:build race

package workqueue

const raceEnabled = true
