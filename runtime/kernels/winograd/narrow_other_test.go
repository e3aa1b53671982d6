//go:build !amd64

package winograd

func narrow() (restore func()) { return func() {} }
