package main

import (
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
)

// absorption is a table of rules as text; package rules describes the language.
var absorption = rules.Must("absorption", `
AB1 (maximum (minimum x y) y) => y  if integer(x)
    -- the smaller of x and y is no larger than y
AB2 (minimum (maximum x y) y) => y  if integer(x)
    -- the larger of x and y is no smaller than y
`)

// Absorb applies them until none fits.
var Absorb = func() *pass.Pass {
	r := &pass.Rewriter{}
	for _, rule := range absorption {
		r.Rules = append(r.Rules, rule.RewriteRule)
	}
	return &pass.Pass{Name: "absorb", Doc: "minimum and maximum absorb each other", Rewrites: r.Document, Local: r.Local}
}()
