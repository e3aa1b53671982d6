//go:build !linux

package main

// forgetPages does nothing: only Linux says which pages there are.
func forgetPages() {}
