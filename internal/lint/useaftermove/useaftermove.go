// Package useaftermove reports linear values that are used after they were given away.
//
// A type is linear if it has a method Move() that returns it, or //halo:linear in its comment. A variable of such a type is moved by Move,
// by being passed to a parameter, or being the receiver, that the called function consumes, and by getting a second name: plain
// assignment, conversion, a place in a struct, slice or map literal, a channel. A function that is made to consume a variable of the
// function around it moves it too. Functions say what they consume in their comment,
//
//	//halo:consume o
//
// and a function that passes a parameter on to a consumer consumes it too; both are known across packages. An editor is moved by Freeze.
//
// For each function the possible moves are followed through its control-flow graph: a variable counts as moved where some path has moved
// it, until it is assigned again. Reported are: a use, also by a closure made later or a deferred call; a consuming call whose linear
// result is thrown away or assigned to _; and the address of a linear variable. Fields, elements and what pointers point to are not followed.
//
//	facts.go   which functions consume what
//	flow.go    the data flow through one function
package useaftermove

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/cfg"

	"github.com/gohalo/halo/internal/lint"
)

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:      "useaftermove",
	Doc:       "report uses of linear values after they were moved",
	Requires:  []*analysis.Analyzer{ctrlflow.Analyzer},
	FactTypes: []analysis.Fact{new(consumes), new(linear)},
	Run:       run,
}

func run(pass *analysis.Pass) (any, error) {
	infer(pass)
	graphs := pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs)
	report := lint.Reporter(pass)
	check := func(g *cfg.CFG) {
		if g != nil {
			f := &flow{pass: pass, report: report, reported: map[ast.Node]bool{}}
			f.run(g)
		}
	}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Body != nil {
					check(graphs.FuncDecl(n))
				}
			case *ast.FuncLit:
				check(graphs.FuncLit(n))
			}
			return true
		})
	}
	return nil, nil
}
