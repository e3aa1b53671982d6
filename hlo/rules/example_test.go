package rules_test

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// A pass that is a table of rules, written as algebra.
func Example() {
	list, err := rules.Parse("mine.rules", `
M1 (multiply x 2) => (add x x) if integer(x) -- an addition takes less time
M2 (negate (negate x)) => x                  -- twice is not at all
`)
	if err != nil {
		fmt.Println(err) // mistakes have line, column and a caret
		return
	}
	rewriter := &pass.Rewriter{}
	for _, r := range list {
		rewriter.Rules = append(rewriter.Rules, r.RewriteRule)
	}
	mine := &pass.Pass{Name: "mine", Doc: "additions for doublings", Rewrites: rewriter.Document, Local: rewriter.Local, Lent: true}

	m, err := parser.Parse("double.hlo", `HloModule double

ENTRY main {
  x = s32[3] parameter(0)
  two = s32[] constant(2)
  twos = s32[3] broadcast(two), dimensions={}
  n = s32[3] negate(x)
  nn = s32[3] negate(n)
  ROOT y = s32[3] multiply(nn, twos)
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	check := func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{}).Err() }
	runner := &pass.Runner{Check: check}
	after, err := runner.Run(context.Background(), pass.Of("example", mine), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(printer.String(after))
	// Output:
	// HloModule double, entry_computation_layout={(s32[3]{0})->s32[3]{0}}
	//
	// ENTRY %main (x: s32[3]) -> s32[3] {
	//   %x = s32[3]{0} parameter(0)
	//   ROOT %add = s32[3]{0} add(%x, %x)
	// }
}
