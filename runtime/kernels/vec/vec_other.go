//go:build !amd64

package vec

// Best is Portable: there is no assembly for this processor.
func Best() Level { return Portable }

func find(Level, string) kernel { return kernel{} }
