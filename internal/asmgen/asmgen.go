// Package asmgen is what the generators of assembly have in common: from instructions to files, and from files to disk or to a test that
// holds what is checked in to what would be generated.
package asmgen

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// Files is what a generator makes, by name.
type Files map[string][]byte

// Compile makes two files of the functions in ctx: gen_NAME_amd64.s, and gen_NAME_amd64.go, which declares them. dir is the package's
// directory below the module.
func Compile(ctx *build.Context, dir, name string) (Files, error) {
	file, err := ctx.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, err
	}
	for _, f := range file.Functions() {
		pruneMoves(f)
		if err := checkRegisters(f); err != nil {
			return nil, err
		}
	}
	config := printer.Config{Argv: []string{"go", "generate"}, Name: dir + "/gen", Pkg: path.Base(dir)}
	assembly, err := printer.NewGoAsm(config).Print(file)
	if err != nil {
		return nil, err
	}
	declarations, err := printer.NewStubs(config).Print(file)
	if err != nil {
		return nil, err
	}
	base := "gen_" + name + "_amd64"
	return Files{base + ".s": append(bytes.TrimSpace(assembly), '\n'), base + ".go": append(bytes.TrimSpace(declarations), '\n')}, nil
}

// pruneMoves removes moves of whole vectors to where they are, which allocation leaves where a register is joined with another: each takes a place among the instructions that a processor
// has under way, so that it sees less of what has to be loaded next. In functions for AVX-512, moves of less than 512 bits stay, as they clear what is above.
func pruneMoves(f *ir.Function) {
	narrow := isForAVX2(f)
	f.Nodes = slices.DeleteFunc(f.Nodes, func(n ir.Node) bool {
		i, ok := n.(*ir.Instruction)
		if !ok || len(i.Operands) != 2 || !strings.HasPrefix(i.Opcode, "VMOVAP") && !strings.HasPrefix(i.Opcode, "VMOVUP") || i.Operands[0] != i.Operands[1] {
			return false
		}
		r, ok := i.Operands[0].(reg.Physical)
		return ok && (r.Size() == 64 || r.Size() == 32 && narrow)
	})
}

// isForAVX2 reports whether a function is for processors without AVX-512, by the end of its name.
func isForAVX2(f *ir.Function) bool {
	return strings.HasSuffix(f.Name, "AVX2") || strings.HasSuffix(f.Name, "x256")
}

// checkRegisters makes sure that a function for AVX2 has no vector registers that came with AVX-512: they are allocated when there are no others left.
func checkRegisters(f *ir.Function) error {
	const vectors = 16 // of AVX2
	if !isForAVX2(f) {
		return nil
	}
	for _, i := range f.Instructions() {
		for _, r := range i.Registers() {
			if p, ok := r.(reg.Physical); ok && p.Kind() == reg.KindVector && p.PhysicalIndex() >= vectors {
				return fmt.Errorf("%s: %s needs AVX-512", f.Name, p.Asm())
			}
		}
	}
	return nil
}

// Write puts what generate makes into the working directory, and ends the process if it cannot.
func Write(generate func() (Files, error)) {
	files, err := generate()
	if err != nil {
		log.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// Stale says which of the files in dir are not what generate makes.
func Stale(dir string, generate func() (Files, error)) error {
	files, err := generate()
	if err != nil {
		return err
	}
	var stale []error
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && !bytes.Equal(got, want) {
			err = fmt.Errorf("%s: run go generate in its directory", name)
		}
		stale = append(stale, err)
	}
	return errors.Join(stale...)
}
