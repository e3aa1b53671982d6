package runtime

import (
	"reflect"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// Kernels that are made by the adapters know the Go types of what they take and give. Loading holds them against each other wherever
// a value goes from one such kernel straight to another. What comes through functions, or from kernels that take frames apart, is
// found out when it is used.

// payloadType is what a signature says of an argument of type T: nil for chains, which nobody reads.
func payloadType[T any]() reflect.Type {
	if t := reflect.TypeFor[T](); t != reflect.TypeFor[async.Chain]() {
		return t
	}
	return nil
}

// typeAt is type i of a list that may be shorter.
func typeAt(list []reflect.Type, i int) reflect.Type {
	if i < len(list) {
		return list[i]
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

// checkTypes holds the kernels of a function to the types that they give each other.
func (l *generalLoader) checkTypes(fn *Function) error {
	signature := func(k *bef.Kernel) *Signature {
		if e := l.program.resolved[k.Code]; e != nil && e.general != nil && e.general.Signature != nil {
			return e.general.Signature
		}
		return &Signature{}
	}
	types := make([]reflect.Type, len(fn.def.Registers))
	for i := range fn.def.Kernels {
		k := &fn.def.Kernels[i]
		s := signature(k)
		for j, r := range k.Results {
			types[r] = typeAt(s.ResultTypes, j)
		}
	}
	for i := range fn.def.Kernels {
		k := &fn.def.Kernels[i]
		s := signature(k)
		for j, r := range k.Args {
			if want := typeAt(s.ArgTypes, j); !accepts(want, types[r]) {
				return l.fail(fn, k, "kernel '%s' takes a %v as argument %d, got a %v", l.program.file.Kernels[k.Code], want, j, types[r])
			}
		}
	}
	return nil
}
