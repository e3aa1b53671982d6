package runtime

import (
	"reflect"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// Kernels that are made by the adapters know the Go types of what they take and give. Loading holds them against each other wherever
// a value goes from one such kernel straight to another. What comes through functions, or from kernels that take frames apart, is
// found out when it is used.

// payloadType is what a signature says of an argument of type T: nil for chains, which have no payload to read.
func payloadType[T any]() reflect.Type {
	if t := reflect.TypeFor[T](); t != reflect.TypeFor[async.Chain]() {
		return t
	}
	return nil
}

// accepts reports whether a payload of type got, which may be unknown, can be read as a want.
func accepts(want, got reflect.Type) bool {
	switch {
	case want == nil || got == nil || want == got || got.Kind() == reflect.Interface:
		return true
	case want.Kind() == reflect.Interface:
		return got.Implements(want)
	}
	return false
}

// typeChecker holds the kernels of functions to the types that they give each other. Types are numbers here, the same one
// for the same type: nearly every use is settled by comparing two of them.
type typeChecker struct {
	known     []reflect.Type // by number; number 0 is the unknown type
	kernels   []kernelTypes  // by kernel code
	registers []int32        // of the function at hand
}

// kernelTypes are the numbers of what a kernel takes and gives.
type kernelTypes struct{ args, results []int32 }

func (c *typeChecker) init(resolved []*registered) {
	c.known = []reflect.Type{nil}
	numbers := map[reflect.Type]int32{nil: 0}
	number := func(types []reflect.Type) (list []int32) {
		for _, t := range types {
			n, ok := numbers[t]
			if !ok {
				n = int32(len(c.known))
				numbers[t] = n
				c.known = append(c.known, t)
			}
			list = append(list, n)
		}
		return list
	}
	c.kernels = make([]kernelTypes, len(resolved))
	for code, e := range resolved {
		if e != nil && e.general != nil && e.general.Signature != nil {
			s := e.general.Signature
			c.kernels[code] = kernelTypes{number(s.ArgTypes), number(s.ResultTypes)}
		}
	}
}

// at is entry i of a list that may be shorter.
func at(list []int32, i int) int32 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// misfit returns the first use, by kernel and argument, of a value that is not of the type which the kernel takes.
func (c *typeChecker) misfit(def *bef.Function) (kernel, arg int, want, got reflect.Type) {
	if len(def.Registers) > len(c.registers) {
		c.registers = make([]int32, len(def.Registers))
	}
	types := c.registers[:len(def.Registers)]
	clear(types[:len(def.Args)])
	for i := range def.Kernels {
		k := &def.Kernels[i]
		results := c.kernels[k.Code].results
		for j, r := range k.Results {
			types[r] = at(results, j)
		}
	}
	for i := range def.Kernels {
		k := &def.Kernels[i]
		args := c.kernels[k.Code].args
		for j, r := range k.Args {
			w, g := at(args, j), types[r]
			if w != g && !accepts(c.known[w], c.known[g]) {
				return i, j, c.known[w], c.known[g]
			}
		}
	}
	return -1, 0, nil, nil
}

// checkTypes holds the kernels of a function to the types that they give each other.
func (l *generalLoader) checkTypes(fn *Function) error {
	i, j, want, got := l.types.misfit(fn.def)
	if i < 0 {
		return nil
	}
	k := &fn.def.Kernels[i]
	return l.fail(fn, k, "kernel '%s' takes a %v as argument %d, got a %v", l.program.file.Kernels[k.Code], want, j, got)
}
