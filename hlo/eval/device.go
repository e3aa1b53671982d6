package eval

// world is the devices of a program that run together.
type world struct{}
