package kernels

import (
	"context"
	"sync"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// instrument is the kernel of a test instrument: it hands its operand on after a time.
func instrument(s *site) (runtime.Bound, bool) {
	d, ok := hlo.Instrument(s.in)
	if !ok || s.in.NumOperands() != 1 || !s.shape(0).Compatible(s.in.Shape()) {
		return runtime.Bound{}, false // the evaluator says what is wrong with it
	}
	if hlo.AttrsOf[hlo.CustomCallAttrs](s.in).Target == hlo.TargetSpin {
		return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
			handOn(f)
			return spin(f.Ctx().Context(), d)
		}}, true
	}
	return runtime.Bound{RunAsync: func(f *runtime.TensorFrame) *async.Value {
		handOn(f)
		return sleep(f.Ctx().Context(), d)
	}}, true
}

func handOn(f *runtime.TensorFrame) {
	for i := range f.NumOut() {
		copy(f.Out(i).Data, f.In(i).Data)
	}
}

// spin keeps its thread busy for a time, or until the run has failed.
func spin(ctx context.Context, d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
	}
	return nil
}

// sleep is available after a time, or when the run has failed.
func sleep(ctx context.Context, d time.Duration) *async.Value {
	done := async.MakeUnconstructed[async.Chain]()
	var once sync.Once
	stop := context.AfterFunc(ctx, func() { once.Do(func() { done.SetError(context.Cause(ctx)) }) })
	after(d, func() {
		once.Do(func() {
			stop()
			done.Emplace(async.Chain{})
		})
	})
	return done.Value()
}
