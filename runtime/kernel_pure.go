package runtime

import (
	"reflect"

	"github.com/gohalo/halo/runtime/async"
)

// The Pure adapters make kernels from functions of plain values to plain values. Such a kernel works in asynchronous
// and in synchronous functions. A function with an error result reports it and makes it the error of the results.

// PureNone makes a kernel without arguments.
func PureNone[R any](fn func() R) Kernel {
	r := scalarTypeOf[R]()
	return Kernel{
		Signature: &Signature{Results: 1, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}},
		plain:     r != nil,
		Run:       func(f *Frame) { Return(f, 0, fn()) },
		Sync: func(f *SyncFrame) error {
			store(f.Result(0), r, fn())
			return nil
		},
	}
}

// Pure1 makes a kernel of one argument.
func Pure1[A, R any](fn func(A) R) Kernel {
	a, r := scalarTypeOf[A](), scalarTypeOf[R]()
	return Kernel{
		Signature: &Signature{Args: 1, Results: 1, Payloads: true, ArgTypes: []reflect.Type{payloadType[A]()}, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}},
		plain:     r != nil,
		Run:       func(f *Frame) { Return(f, 0, fn(Arg[A](f, 0))) },
		Sync: func(f *SyncFrame) error {
			store(f.Result(0), r, fn(load[A](f.Arg(0), a)))
			return nil
		},
	}
}

// Pure2 makes a kernel of two arguments.
func Pure2[A, B, R any](fn func(A, B) R) Kernel {
	a, b, r := scalarTypeOf[A](), scalarTypeOf[B](), scalarTypeOf[R]()
	return Kernel{
		Signature: &Signature{Args: 2, Results: 1, Payloads: true, ArgTypes: []reflect.Type{payloadType[A](), payloadType[B]()}, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}},
		plain:     r != nil,
		Run:       func(f *Frame) { Return(f, 0, fn(Arg[A](f, 0), Arg[B](f, 1))) },
		Sync: func(f *SyncFrame) error {
			store(f.Result(0), r, fn(load[A](f.Arg(0), a), load[B](f.Arg(1), b)))
			return nil
		},
	}
}

// Pure3 makes a kernel of three arguments.
func Pure3[A, B, C, R any](fn func(A, B, C) R) Kernel {
	a, b, c, r := scalarTypeOf[A](), scalarTypeOf[B](), scalarTypeOf[C](), scalarTypeOf[R]()
	return Kernel{
		Signature: &Signature{Args: 3, Results: 1, Payloads: true, ArgTypes: []reflect.Type{payloadType[A](), payloadType[B](), payloadType[C]()}, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}},
		plain:     r != nil,
		Run:       func(f *Frame) { Return(f, 0, fn(Arg[A](f, 0), Arg[B](f, 1), Arg[C](f, 2))) },
		Sync: func(f *SyncFrame) error {
			store(f.Result(0), r, fn(load[A](f.Arg(0), a), load[B](f.Arg(1), b), load[C](f.Arg(2), c)))
			return nil
		},
	}
}

// PureN makes a kernel of any number of arguments of one type.
func PureN[A, R any](fn func([]A) R) Kernel {
	a, r := scalarTypeOf[A](), scalarTypeOf[R]()
	return Kernel{
		Signature: &Signature{Args: AtLeast(0), Results: 1, Payloads: true, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}},
		plain:     r != nil,
		Run: func(f *Frame) {
			args := make([]A, f.NumArgs())
			for i := range args {
				args[i] = Arg[A](f, i)
			}
			Return(f, 0, fn(args))
		},
		Sync: func(f *SyncFrame) error {
			args := make([]A, f.NumArgs())
			for i := range args {
				args[i] = load[A](f.Arg(i), a)
			}
			store(f.Result(0), r, fn(args))
			return nil
		},
	}
}

// Try1 is Pure1 for a function that may fail.
func Try1[A, R any](fn func(A) (R, error)) Kernel {
	a, r := scalarTypeOf[A](), scalarTypeOf[R]()
	return Kernel{
		Signature: &Signature{Args: 1, Results: 1, Payloads: true, ArgTypes: []reflect.Type{payloadType[A]()}, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}},
		plain:     r != nil,
		Run: func(f *Frame) {
			if x, err := fn(Arg[A](f, 0)); err != nil {
				f.ReportError(err)
			} else {
				Return(f, 0, x)
			}
		},
		Sync: func(f *SyncFrame) error {
			x, err := fn(load[A](f.Arg(0), a))
			if err == nil {
				store(f.Result(0), r, x)
			}
			return err
		},
	}
}

// Try2 is Pure2 for a function that may fail.
func Try2[A, B, R any](fn func(A, B) (R, error)) Kernel {
	a, b, r := scalarTypeOf[A](), scalarTypeOf[B](), scalarTypeOf[R]()
	return Kernel{
		Signature: &Signature{Args: 2, Results: 1, Payloads: true, ArgTypes: []reflect.Type{payloadType[A](), payloadType[B]()}, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}},
		plain:     r != nil,
		Run: func(f *Frame) {
			if x, err := fn(Arg[A](f, 0), Arg[B](f, 1)); err != nil {
				f.ReportError(err)
			} else {
				Return(f, 0, x)
			}
		},
		Sync: func(f *SyncFrame) error {
			x, err := fn(load[A](f.Arg(0), a), load[B](f.Arg(1), b))
			if err == nil {
				store(f.Result(0), r, x)
			}
			return err
		},
	}
}

// Try2x2 makes a kernel of two arguments and two results from a function that may fail, as integer division does.
func Try2x2[A, B, R, S any](fn func(A, B) (R, S, error)) Kernel {
	a, b, r, s := scalarTypeOf[A](), scalarTypeOf[B](), scalarTypeOf[R](), scalarTypeOf[S]()
	return Kernel{
		Signature: &Signature{Args: 2, Results: 2, Payloads: true, ArgTypes: []reflect.Type{payloadType[A](), payloadType[B]()}, ResultTypes: []reflect.Type{reflect.TypeFor[R](), reflect.TypeFor[S]()}},
		plain:     r != nil && s != nil,
		Run: func(f *Frame) {
			if x, y, err := fn(Arg[A](f, 0), Arg[B](f, 1)); err != nil {
				f.ReportError(err)
			} else {
				Return(f, 0, x)
				Return(f, 1, y)
			}
		},
		Sync: func(f *SyncFrame) error {
			x, y, err := fn(load[A](f.Arg(0), a), load[B](f.Arg(1), b))
			if err == nil {
				store(f.Result(0), r, x)
				store(f.Result(1), s, y)
			}
			return err
		},
	}
}

// FromAttribute makes a kernel of no arguments and one attribute: a constant, or something made from one.
func FromAttribute[A, R any](fn func(A) (R, error)) Kernel {
	r := scalarTypeOf[R]()
	return Kernel{
		Signature: &Signature{Results: 1, Attrs: 1, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}},
		plain:     r != nil,
		Run: func(f *Frame) {
			a, err := AttrValue[A](f.Pool(), f.Attr(0))
			if err == nil {
				var x R
				if x, err = fn(a); err == nil {
					Return(f, 0, x)
					return
				}
			}
			f.ReportError(err)
		},
		Sync: func(f *SyncFrame) error {
			a, err := AttrValue[A](f.Pool(), f.Attr(0))
			if err != nil {
				return err
			}
			x, err := fn(a)
			if err == nil {
				store(f.Result(0), r, x)
			}
			return err
		},
	}
}

// Arg returns the payload of argument i of a call. A counted payload is borrowed.
func Arg[T any](f *Frame, i int) T { return async.Get[T](f.args[i]) }

// Return sets result i to a new value. It takes over the reference to a counted payload.
func Return[T any](f *Frame, i int, x T) {
	if f.kernel.local {
		returnLocal(f, i, x)
		return
	}
	f.results[i] = async.MakeAvailable(x).Value()
}

// returnLocal puts a result that is not visible outside of this execution where the last execution had it.
func returnLocal[T any](f *Frame, i int, x T) {
	slot := &f.exec.locals[f.kernel.results[i]]
	if *slot == nil || !async.Overwrite(*slot, x) {
		*slot = async.MakeOverwritable(x).Value()
	}
	f.results[i] = *slot
}
