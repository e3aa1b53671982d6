package hostkernels

import (
	"bytes"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

func registerInspection(reg *runtime.Registry) {
	type chain = async.Chain
	reg.Kernel("tfrt_test.print_debug_info", runtime.Kernel{
		Signature: &runtime.Signature{Args: 1, Results: 1},
		Run: func(f *runtime.Frame) {
			info := f.Location().DebugInfo()
			if info == "" {
				info = "Kernel has no debug info"
			}
			console(f.Ctx()).Printf("%s\n", info)
			runtime.Return(f, 0, chain{})
		},
	})
	reg.Kernel("tfrt_test.unique_loc", runtime.Kernel{
		Signature: &runtime.Signature{Results: 1, Attrs: 1},
		Run: func(f *runtime.Frame) {
			name, err := runtime.AttrValue[string](f.Pool(), f.Attr(0))
			if err == nil {
				ctx := f.Ctx()
				err = runtime.Shared(ctx.Host(), newLocationNames).claim(f.LocationID(), name)
			}
			if err != nil {
				f.ReportError(err)
				return
			}
			runtime.Return(f, 0, chain{})
		},
	})
	reg.Kernel("tfrt_test.get_thread_id", runtime.Params3(
		func(ctx runtime.ExecContext, _ runtime.Argument[chain], id runtime.Result[int32]) error {
			id.Emplace(runtime.Shared(ctx.Host(), newThreadNumbers).current())
			return nil
		}))
	reg.Kernel("tfrt_test.use_sample_shared_context", runtime.Params4(
		func(ctx runtime.ExecContext, _ runtime.Argument[chain], name runtime.Result[string], done runtime.Result[chain]) error {
			name.Emplace(runtime.Shared(ctx.Host(), newSampleContext).name)
			done.Emplace(chain{})
			return nil
		}))
	reg.Kernel("tfrt_test.async_value_get", runtime.PureNone(derivedValue))
	reg.Kernel("tfrt_test.async_value_ref", runtime.PureNone(lifeOfReferences))
}

// locationNames remembers which name was used at which location.
type locationNames struct {
	mu    sync.Mutex
	names map[bef.LocID]string
}

func newLocationNames() *locationNames { return &locationNames{names: make(map[bef.LocID]string)} }

func (l *locationNames) claim(loc bef.LocID, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.names[loc]; ok && old != name {
		return fmt.Errorf("duplicate locations %d", loc)
	}
	l.names[loc] = name
	return nil
}

// threadNumbers counts threads in the order in which they first ask. Workers of a queue are goroutines that live as long as it does,
// so their numbers are as good as those of threads.
type threadNumbers struct {
	mu      sync.Mutex
	numbers map[string]int32 // by Go's number of the goroutine
}

func newThreadNumbers() *threadNumbers { return &threadNumbers{numbers: make(map[string]int32)} }

func (t *threadNumbers) current() int32 {
	// "goroutine 7 [running]: …". Go tells it nowhere else.
	var buf [40]byte
	trace := buf[:goruntime.Stack(buf[:], false)]
	id, _, _ := bytes.Cut(bytes.TrimPrefix(trace, []byte("goroutine ")), []byte(" "))
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.numbers[string(id)]
	if !ok {
		n = int32(len(t.numbers))
		t.numbers[string(id)] = n
	}
	return n
}

// sampleContext is an object of which a host has one.
type sampleContext struct{ name string }

func newSampleContext() *sampleContext { return &sampleContext{"sample_shared_context0"} }

// The views of payloads for derivedValue.
type (
	firstBase  interface{ first() string }
	secondBase interface{ second() string }
	finalClass struct{ n int }
)

func (*finalClass) first() string  { return "base1" }
func (*finalClass) second() string { return "base2" }

// derivedValue reads one payload as each of the types that it has.
func derivedValue() string {
	v := async.MakeAvailable(&finalClass{3})
	defer v.Drop()
	return fmt.Sprintf("%s:%s:final_class:%d",
		async.Get[firstBase](v.Value()).first(), async.Get[secondBase](v.Value()).second(), async.Get[*finalClass](v.Value()).n)
}

// lifeOfReferences takes references through their states and tells what they answer.
func lifeOfReferences() string {
	var log strings.Builder
	state := func(r async.Ref[int32]) {
		if r.IsAvailable() {
			fmt.Fprintf(&log, "available:%d", r.Get())
		} else {
			log.WriteString("unavailable")
		}
	}
	r := async.MakeAvailable(int32(2))
	state(r)
	r.Drop()

	r = async.MakeUnconstructed[int32]()
	log.WriteByte(';')
	state(r)
	r.AndThen(func() { fmt.Fprintf(&log, "(%d)", r.Get()) })
	log.WriteByte(';')
	r.Emplace(3)
	log.WriteByte(';')
	state(r)
	r.Drop()

	r = async.MakeUnconstructed[int32]()
	log.WriteByte(';')
	state(r)
	published := r.CopyRef()
	published.Emplace(4)
	published.Drop()
	log.WriteByte(';')
	state(r)
	r.Drop()
	return log.String()
}
