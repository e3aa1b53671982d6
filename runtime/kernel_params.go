package runtime

import (
	"reflect"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// The Params adapters make kernels from functions whose parameters say what they stand for, as TFRT's kernels do:
//
//	func asyncCopy(ctx runtime.ExecContext, in runtime.Argument[int32], out runtime.Result[int32]) error {
//		src, dst := in.Ref(), out.Allocate()
//		ctx.Queue.AddTask(func() { dst.Emplace(src.Get()); src.Drop(); dst.Drop() })
//		return nil
//	}
//	reg.Kernel("test.async_copy", runtime.Params3(asyncCopy))
//
// Arguments, results, attributes and functions are bound each in their own order; those of one sort must come in that order,
// remaining ones last. The arity follows from the parameters and is checked when a program is loaded. A parameter may also
// be an ExecContext or a Reporter. An error that it returns is reported and becomes the error of the results.

// Param is implemented by pointers to the parameter types of this file.
type Param interface {
	declare(s *Signature)
	bind(c *paramCursor)
}

// paramPointer ties a parameter type to its pointer, which has the methods. It is inferred.
type paramPointer[T any] interface {
	*T
	Param
}

// paramCursor is how far the binding of a call has come.
type paramCursor struct {
	frame                   *Frame
	arg, result, attr, fnct int
	err                     error
}

func one(c *Count) {
	if *c >= 0 {
		*c++
	}
}

func rest(c *Count) {
	if *c >= 0 {
		*c = AtLeast(int(*c))
	}
}

// Argument is an argument of type T.
type Argument[T any] struct{ v *async.Value }

// Get returns the payload. Strict kernels may call it always, non-strict ones when the value is concrete.
func (a Argument[T]) Get() T { return async.Get[T](a.v) }

// Value returns the value, borrowed.
func (a Argument[T]) Value() *async.Value { return a.v }

// Ref returns a reference that outlives the call.
func (a Argument[T]) Ref() async.Ref[T] {
	a.v.AddRef()
	return async.Cast[T](a.v)
}

func (a *Argument[T]) declare(s *Signature) {
	one(&s.Args)
	s.ArgTypes = append(s.ArgTypes, payloadType[T]())
	s.Payloads = true
}

func (a *Argument[T]) bind(c *paramCursor) {
	a.v = c.frame.args[c.arg]
	c.arg++
}

// RemainingArguments are the arguments after those that have a parameter, of any types. They are borrowed, and the slice
// is valid until the kernel returns.
type RemainingArguments struct{ Values []*async.Value }

func (r *RemainingArguments) declare(s *Signature) { rest(&s.Args) }

func (r *RemainingArguments) bind(c *paramCursor) {
	r.Values = c.frame.args[c.arg:]
	c.arg = len(c.frame.args)
}

// RepeatedArguments are the arguments after those that have a parameter, all of type T.
type RepeatedArguments[T any] struct{ values []*async.Value }

// Len returns their number.
func (r RepeatedArguments[T]) Len() int { return len(r.values) }

// Get returns the payload of number i.
func (r RepeatedArguments[T]) Get(i int) T { return async.Get[T](r.values[i]) }

func (r *RepeatedArguments[T]) declare(s *Signature) {
	rest(&s.Args)
	s.Payloads = true
}

func (r *RepeatedArguments[T]) bind(c *paramCursor) {
	r.values = c.frame.args[c.arg:]
	c.arg = len(c.frame.args)
}

// Result is a result of type T. It must be set before the kernel returns, by one of its methods.
type Result[T any] struct {
	frame *Frame
	i     int
}

// Emplace sets the result to a new available value.
func (r Result[T]) Emplace(x T) { Return(r.frame, r.i, x) }

// Allocate sets the result to a new unavailable value and returns a reference of its own to it, to be published later
// and then dropped.
func (r Result[T]) Allocate() async.Ref[T] {
	ref := async.MakeUnconstructed[T]()
	r.frame.Set(r.i, ref.Value())
	return ref.CopyRef()
}

// Set sets the result to a value and takes over the reference.
func (r Result[T]) Set(ref async.Ref[T]) { r.frame.Set(r.i, ref.Release()) }

// SetValue is Set for a value whose type is not known statically.
func (r Result[T]) SetValue(v *async.Value) { r.frame.Set(r.i, v) }

func (r *Result[T]) declare(s *Signature) {
	one(&s.Results)
	s.ResultTypes = append(s.ResultTypes, reflect.TypeFor[T]())
}

func (r *Result[T]) bind(c *paramCursor) {
	r.frame, r.i = c.frame, c.result
	c.result++
}

// RemainingResults are the results after those that have a parameter.
type RemainingResults struct {
	frame *Frame
	first int
}

// Len returns their number.
func (r RemainingResults) Len() int { return len(r.frame.results) - r.first }

// Set sets number i and takes over the reference.
func (r RemainingResults) Set(i int, v *async.Value) { r.frame.results[r.first+i] = v }

// Slots returns the places of the results, for Function.Execute.
func (r RemainingResults) Slots() []*async.Value { return r.frame.results[r.first:] }

// AllocateIndirect sets number i to a new indirect and returns it with a reference of its own, to be forwarded later and
// then dropped.
func (r RemainingResults) AllocateIndirect(i int) *async.Indirect {
	in := async.MakeIndirect()
	in.AddRef()
	r.Set(i, &in.Value)
	return in
}

func (r *RemainingResults) declare(s *Signature) { rest(&s.Results) }

func (r *RemainingResults) bind(c *paramCursor) {
	r.frame, r.first = c.frame, c.result
	c.result = len(c.frame.results)
}

// Attribute is an attribute that is read as a T; see AttrValue for what T may be.
type Attribute[T any] struct{ x T }

// Get returns the attribute's value.
func (a Attribute[T]) Get() T { return a.x }

func (a *Attribute[T]) declare(s *Signature) { one(&s.Attrs) }

func (a *Attribute[T]) bind(c *paramCursor) {
	x, err := AttrValue[T](c.frame.Pool(), c.frame.Attr(c.attr))
	if err != nil && c.err == nil {
		c.err = err
	}
	a.x = x
	c.attr++
}

// StringAttribute is an attribute of type string.
type StringAttribute = Attribute[string]

// ArrayAttribute is an attribute that is an array of scalars.
type ArrayAttribute[T any] = Attribute[[]T]

// RemainingAttributes are the attributes after those that have a parameter.
type RemainingAttributes struct {
	Attrs []bef.Attr
	Pool  *bef.Pool
}

func (r *RemainingAttributes) declare(s *Signature) { rest(&s.Attrs) }

func (r *RemainingAttributes) bind(c *paramCursor) {
	r.Pool = c.frame.Pool()
	r.Attrs = c.frame.kernel.def.Attrs[c.attr:]
	c.attr = c.frame.NumAttrs()
}

// Callee is a function that the kernel was given.
type Callee struct{ *Function }

func (f *Callee) declare(s *Signature) { one(&s.Funcs) }

func (f *Callee) bind(c *paramCursor) {
	f.Function = c.frame.Func(c.fnct)
	c.fnct++
}

// RemainingFunctions are the functions after those that have a parameter.
type RemainingFunctions struct{ Funcs []*Function }

func (r *RemainingFunctions) declare(s *Signature) { rest(&s.Funcs) }

func (r *RemainingFunctions) bind(c *paramCursor) {
	r.Funcs = c.frame.kernel.funcs()[c.fnct:]
	c.fnct = c.frame.NumFuncs()
}

func (c *ExecContext) declare(*Signature)    {}
func (c *ExecContext) bind(cur *paramCursor) { *c = cur.frame.Ctx() }
func (r *Reporter) declare(*Signature)       {}
func (r *Reporter) bind(c *paramCursor)      { *r = c.frame.Reporter() }
func bound(f *Frame) paramCursor             { return paramCursor{frame: f} }
func (c *paramCursor) finish(f *Frame) bool {
	if c.err != nil {
		f.ReportError(c.err)
	}
	return c.err == nil
}

func finishParams(f *Frame, err error) {
	if err != nil {
		f.ReportError(err)
	}
}

// Params1 makes a kernel of one parameter.
func Params1[A any, PA paramPointer[A]](fn func(A) error) Kernel {
	var s Signature
	PA(new(A)).declare(&s)
	return Kernel{Signature: &s, Run: func(f *Frame) {
		var a A
		c := bound(f)
		PA(&a).bind(&c)
		if c.finish(f) {
			finishParams(f, fn(a))
		}
	}}
}

// Params2 makes a kernel of two parameters.
func Params2[A, B any, PA paramPointer[A], PB paramPointer[B]](fn func(A, B) error) Kernel {
	var s Signature
	PA(new(A)).declare(&s)
	PB(new(B)).declare(&s)
	return Kernel{Signature: &s, Run: func(f *Frame) {
		var a A
		var b B
		c := bound(f)
		PA(&a).bind(&c)
		PB(&b).bind(&c)
		if c.finish(f) {
			finishParams(f, fn(a, b))
		}
	}}
}

// Params3 makes a kernel of three parameters.
func Params3[A, B, C any, PA paramPointer[A], PB paramPointer[B], PC paramPointer[C]](fn func(A, B, C) error) Kernel {
	var s Signature
	PA(new(A)).declare(&s)
	PB(new(B)).declare(&s)
	PC(new(C)).declare(&s)
	return Kernel{Signature: &s, Run: func(f *Frame) {
		var x A
		var y B
		var z C
		c := bound(f)
		PA(&x).bind(&c)
		PB(&y).bind(&c)
		PC(&z).bind(&c)
		if c.finish(f) {
			finishParams(f, fn(x, y, z))
		}
	}}
}

// Params4 makes a kernel of four parameters.
func Params4[A, B, C, D any, PA paramPointer[A], PB paramPointer[B], PC paramPointer[C], PD paramPointer[D]](fn func(A, B, C, D) error) Kernel {
	var s Signature
	PA(new(A)).declare(&s)
	PB(new(B)).declare(&s)
	PC(new(C)).declare(&s)
	PD(new(D)).declare(&s)
	return Kernel{Signature: &s, Run: func(f *Frame) {
		var w A
		var x B
		var y C
		var z D
		c := bound(f)
		PA(&w).bind(&c)
		PB(&x).bind(&c)
		PC(&y).bind(&c)
		PD(&z).bind(&c)
		if c.finish(f) {
			finishParams(f, fn(w, x, y, z))
		}
	}}
}

// Params5 makes a kernel of five parameters.
func Params5[A, B, C, D, E any, PA paramPointer[A], PB paramPointer[B], PC paramPointer[C], PD paramPointer[D], PE paramPointer[E]](fn func(A, B, C, D, E) error) Kernel {
	var s Signature
	PA(new(A)).declare(&s)
	PB(new(B)).declare(&s)
	PC(new(C)).declare(&s)
	PD(new(D)).declare(&s)
	PE(new(E)).declare(&s)
	return Kernel{Signature: &s, Run: func(f *Frame) {
		var v A
		var w B
		var x C
		var y D
		var z E
		c := bound(f)
		PA(&v).bind(&c)
		PB(&w).bind(&c)
		PC(&x).bind(&c)
		PD(&y).bind(&c)
		PE(&z).bind(&c)
		if c.finish(f) {
			finishParams(f, fn(v, w, x, y, z))
		}
	}}
}
