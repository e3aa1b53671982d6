package winograd

// narrow makes lines use vectors of 256 bits until what it returns is called.
func narrow() (restore func()) {
	had := hasWide
	hasWide = false
	return func() { hasWide = had }
}
