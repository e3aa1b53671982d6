package hostkernels

import (
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// announced is a value that says what happens to it. It is counted, and with its last reference it is destroyed.
type announced struct {
	n    int32
	c    *Console
	refs atomic.Int32
}

// newAnnounced makes a value the way a kernel in C++ does: it is made, and moved to where it stays.
func newAnnounced(c *Console, n int32) *announced {
	v := &announced{n: n, c: c}
	v.refs.Store(1)
	c.Printf("constructed vt.value(%d)\n", n)
	c.Printf("move constructed vt.value(%d)\n", n)
	return v
}

func (v *announced) AddRef() { v.refs.Add(1) }

func (v *announced) DropRef() {
	if v.refs.Add(-1) == 0 {
		v.c.Printf("destroyed vt.value(%d)\n", v.n)
	}
}

// testResource is something that must be given back, explicitly or by dropping it.
type testResource struct {
	c       *Console
	refs    atomic.Int32
	destroy func() // once
}

func newTestResource(c *Console) *testResource {
	r := &testResource{c: c, destroy: sync.OnceFunc(func() { c.Printf("Destroyed TestResource\n") })}
	r.refs.Store(1)
	c.Printf("Allocated TestResource\n")
	return r
}

func (r *testResource) AddRef() { r.refs.Add(1) }

func (r *testResource) DropRef() {
	if r.refs.Add(-1) == 0 {
		r.destroy()
	}
}

func registerLifetimes(reg *runtime.Registry) {
	type chain = async.Chain
	reg.Kernel("vt.constant", runtime.Params3(
		func(ctx runtime.ExecContext, out runtime.Result[*announced], n runtime.Attribute[int32]) error {
			out.Emplace(newAnnounced(console(ctx), n.Get()))
			return nil
		}))
	reg.Kernel("vt.add", runtime.Params4(
		func(ctx runtime.ExecContext, a, b runtime.Argument[*announced], out runtime.Result[*announced]) error {
			out.Emplace(newAnnounced(console(ctx), a.Get().n+b.Get().n))
			return nil
		}))
	reg.Kernel("vt.print", runtime.Params4(
		func(ctx runtime.ExecContext, v runtime.Argument[*announced], _ runtime.Argument[chain], done runtime.Result[chain]) error {
			console(ctx).Printf("print vt_value(%d)\n", v.Get().n)
			done.Emplace(chain{})
			return nil
		}))

	reg.Kernel("tfrt_test.allocate_resource", runtime.Params4(
		func(ctx runtime.ExecContext, _ runtime.Argument[chain], out runtime.Result[*testResource], done runtime.Result[chain]) error {
			out.Emplace(newTestResource(console(ctx)))
			done.Emplace(chain{})
			return nil
		}))
	reg.Kernel("tfrt_test.deallocate_resource", runtime.Params4(
		func(ctx runtime.ExecContext, r runtime.Argument[*testResource], _ runtime.Argument[chain], done runtime.Result[chain]) error {
			r.Get().destroy()
			console(ctx).Printf("tfrt_test.deallocate_resource done\n")
			done.Emplace(chain{})
			return nil
		}))
	reg.Kernel("tfrt_test.memory_leak_one_int32", runtime.Params1(func(ctx runtime.ExecContext) error {
		const size = 4
		_, err := ctx.Host().Allocator().Allocate(size, size)
		return err
	}))
}
