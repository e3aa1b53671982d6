package halo

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
)

// HostCall is a call from a program back into the process that JAX compiled it in: jax.debug.print, jax.pure_callback, io_callback. The function
// that was meant is not in the program, only its number, in the configuration.
type HostCall struct {
	Target, Config string
	Position       string // file:line:col, "" where it is not known
	Args           []*hlo.Literal
	// Results are zeros, one for each array of the result. The function writes into their bytes.
	Results []*hlo.Literal
}

// callbackTargets are the custom calls that JAX makes of callbacks, over the years.
var callbackTargets = []string{
	"xla_python_cpu_callback", "xla_python_gpu_callback", "xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback",
	"xla_ffi_partitioned_python_cpu_callback", "xla_ffi_partitioned_python_gpu_callback", "xla_buffer_python_cpu_callback",
	"xla_buffer_python_gpu_callback",
}

// NoHostCallback is the error of a program that calls back into a process that is not there.
type NoHostCallback struct {
	Target string
}

func (e *NoHostCallback) Error() string {
	return fmt.Sprintf("%s calls a Python function, which is not in the program. In Go, Options.HostCallback answers such calls;\n"+
		"  halo run --host-callbacks=print prints what is passed, =zeros answers with zeros, =skip does so in silence", e.Target)
}

func (o *Options) callback(c *HostCall) error {
	if o.HostCallback == nil {
		return &NoHostCallback{c.Target}
	}
	return o.HostCallback(c)
}

// registerCallbacks makes the custom calls known that JAX makes of callbacks.
func (o *Options) registerCallbacks(reg *runtime.Registry) {
	for _, target := range callbackTargets {
		reg.CustomCall(target, func(b *runtime.Binding) (runtime.Bound, error) {
			config, err := b.StringAttr(0)
			if err != nil {
				return runtime.Bound{}, err
			}
			return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
				call := &HostCall{Target: target, Config: config}
				if b.Location.Line > 0 {
					call.Position = fmt.Sprintf("%s:%d:%d", b.Location.File, b.Location.Line, b.Location.Column)
				}
				for i := range f.NumIn() {
					l, err := literalOf(f.In(i))
					if err != nil {
						return err
					}
					if l.Shape().IsArray() { // and no token, which orders calls
						call.Args = append(call.Args, l)
					}
				}
				for i := range f.NumOut() {
					clear(f.Out(i).Data)
					l, err := literalOf(f.Out(i))
					if err != nil {
						return err
					}
					if l.Shape().IsArray() {
						call.Results = append(call.Results, l)
					}
				}
				return o.callback(call)
			}}, nil
		})
	}
}

// literalOf is a literal over the memory of a buffer, which a callback must not keep.
func literalOf(b *runtime.Buffer) (*hlo.Literal, error) {
	return hlo.NewLiteral(hlo.MakeShape(hlo.PrimitiveType(b.Type), b.Dims...), b.Data)
}

// evalCalls are the meanings of custom calls in the evaluator, those of callbacks among them.
func (o *Options) evalCalls(m hlo.Module) map[string]eval.Kernel {
	all := map[string]eval.Kernel{}
	for _, target := range callbackTargets {
		all[target] = func(c *eval.Call) (*hlo.Literal, error) { return o.evalCallback(m, c) }
	}
	maps.Copy(all, o.CustomCalls)
	return all
}

func (o *Options) evalCallback(m hlo.Module, c *eval.Call) (*hlo.Literal, error) {
	attrs := hlo.AttrsOf[hlo.CustomCallAttrs](c.In)
	call := &HostCall{Target: attrs.Target}
	if common := c.In.Common(); common != nil {
		call.Config = common.BackendConfig
	}
	if pos := c.In.Position(); pos.IsKnown() {
		call.Position = fmt.Sprintf("%s:%d:%d", m.Config().FileName, pos.Line, pos.Col)
	}
	for _, a := range c.Args {
		call.Args = append(call.Args, slices.DeleteFunc(a.Leaves(), func(l *hlo.Literal) bool { return !l.Shape().IsArray() })...)
	}
	result, err := zerosOf(c.In.Shape())
	if err != nil {
		return nil, err
	}
	call.Results = slices.DeleteFunc(result.Leaves(), func(l *hlo.Literal) bool { return !l.Shape().IsArray() })
	if err := o.callback(call); err != nil {
		return nil, err
	}
	return result, nil
}

// zerosOf is a literal of zeros with memory of its own.
func zerosOf(s hlo.Shape) (*hlo.Literal, error) {
	switch {
	case s.IsTuple():
		parts := make([]*hlo.Literal, s.NumElems())
		for i := range parts {
			var err error
			if parts[i], err = zerosOf(s.Elem(i)); err != nil {
				return nil, err
			}
		}
		return hlo.NewTupleLiteral(parts...), nil
	case s.IsToken():
		return hlo.NewLiteral(s, nil)
	}
	return hlo.NewLiteral(s.WithoutLayout(), make([]byte, s.ByteSize()))
}
