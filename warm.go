package halo

import (
	"context"
	_ "embed"
)

// warmText has the ops that most programs have.
//
//go:embed warm.hlo
var warmText []byte

// Warm compiles a small program. Tables that the first compilation of a process makes are there afterwards, and the code of the compiler is mapped
// and in the caches. A process calls it beside what it does before it can compile, such as reading the program: it takes about a millisecond.
func Warm() { _ = warm() }

func warm() error {
	m, err := LoadBytes("warm.hlo", warmText)
	if err != nil {
		return err
	}
	p, err := Compile(context.Background(), m, Options{MaxBytes: 1 << 20})
	if err != nil {
		return err
	}
	p.Close()
	return nil
}

// WarmTables makes the largest of the tables that [Warm] makes, and compiles nothing: a process that compiles one program and ends is done sooner so.
func WarmTables() { _, _ = cpu() }
