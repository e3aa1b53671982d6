//go:build !amd64

package vec

// Best is Portable: there is no assembly for this processor.
func Best() Level { return Portable }

func find(Level, Name) kernel { return kernel{} }

func levelLoops(Level) []row { return nil }
