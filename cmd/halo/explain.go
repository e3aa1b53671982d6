package main

import "github.com/gohalo/halo/verifier"

// explain is the documentation of a verifier rule.
func explain(rule string) (string, bool) { return verifier.Explain(rule) }
