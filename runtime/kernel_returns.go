package runtime

import (
	"reflect"

	"github.com/gohalo/halo/runtime/async"
)

// The Returns adapters are like Params, for kernels whose one result is what the function returns: a value of its own, made elsewhere or to
// come later.
//
//	func asyncCopy(ctx runtime.ExecContext, in runtime.Argument[int32]) async.Ref[int32] {
//		x := in.Get()
//		return async.MakeAsync(ctx.Queue, func() (int32, error) { return x, nil })
//	}
//	reg.Kernel("test.async_copy", runtime.Returns2(asyncCopy))
//
// The function gives the reference away. To hand an argument on it returns the argument's Ref.

// Returns1 makes a kernel of one parameter.
func Returns1[A, R any, PA paramPointer[A]](fn func(A) async.Ref[R]) Kernel {
	sig := Signature{Results: 1, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}}
	PA(new(A)).declare(&sig)
	return Kernel{Signature: &sig, Run: func(f *Frame) {
		var z A
		cur := bound(f)
		PA(&z).bind(&cur)
		if cur.finish(f) {
			r := fn(z)
			f.Set(0, r.Release())
		}
	}}
}

// Returns2 makes a kernel of two parameters.
func Returns2[A, B, R any, PA paramPointer[A], PB paramPointer[B]](fn func(A, B) async.Ref[R]) Kernel {
	sig := Signature{Results: 1, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}}
	PA(new(A)).declare(&sig)
	PB(new(B)).declare(&sig)
	return Kernel{Signature: &sig, Run: func(f *Frame) {
		var y A
		var z B
		cur := bound(f)
		PA(&y).bind(&cur)
		PB(&z).bind(&cur)
		if cur.finish(f) {
			r := fn(y, z)
			f.Set(0, r.Release())
		}
	}}
}

// Returns3 makes a kernel of three parameters.
func Returns3[A, B, C, R any, PA paramPointer[A], PB paramPointer[B], PC paramPointer[C]](fn func(A, B, C) async.Ref[R]) Kernel {
	sig := Signature{Results: 1, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}}
	PA(new(A)).declare(&sig)
	PB(new(B)).declare(&sig)
	PC(new(C)).declare(&sig)
	return Kernel{Signature: &sig, Run: func(f *Frame) {
		var x A
		var y B
		var z C
		cur := bound(f)
		PA(&x).bind(&cur)
		PB(&y).bind(&cur)
		PC(&z).bind(&cur)
		if cur.finish(f) {
			r := fn(x, y, z)
			f.Set(0, r.Release())
		}
	}}
}

// Returns4 makes a kernel of four parameters.
func Returns4[A, B, C, D, R any, PA paramPointer[A], PB paramPointer[B], PC paramPointer[C], PD paramPointer[D]](fn func(A, B, C, D) async.Ref[R]) Kernel {
	sig := Signature{Results: 1, ResultTypes: []reflect.Type{reflect.TypeFor[R]()}}
	PA(new(A)).declare(&sig)
	PB(new(B)).declare(&sig)
	PC(new(C)).declare(&sig)
	PD(new(D)).declare(&sig)
	return Kernel{Signature: &sig, Run: func(f *Frame) {
		var w A
		var x B
		var y C
		var z D
		cur := bound(f)
		PA(&w).bind(&cur)
		PB(&x).bind(&cur)
		PC(&y).bind(&cur)
		PD(&z).bind(&cur)
		if cur.finish(f) {
			r := fn(w, x, y, z)
			f.Set(0, r.Release())
		}
	}}
}

// View is implemented by pointers to views: what a kernel makes of an argument before it looks at it.
type View[V, T any] interface {
	*V
	View(payload T) error
}

// ArgumentView is an argument of type T seen as a V: a tensor as a matrix of a certain element type, say. What the view refuses is the error of
// the call.
type ArgumentView[T, V any, PV View[V, T]] struct {
	view V
	v    *async.Value
}

// Get returns the view.
func (a ArgumentView[T, V, PV]) Get() V { return a.view }

// Value returns the value that the view is of, borrowed.
func (a ArgumentView[T, V, PV]) Value() *async.Value { return a.v }

func (a *ArgumentView[T, V, PV]) declare(s *Signature) {
	one(&s.Args)
	s.ArgTypes = append(s.ArgTypes, payloadType[T]())
	s.Payloads = true
}

func (a *ArgumentView[T, V, PV]) bind(c *paramCursor) {
	v := c.frame.args[c.arg]
	a.v = v
	c.arg++
	if err := PV(&a.view).View(async.Get[T](v)); err != nil && c.err == nil {
		c.err = err
	}
}
