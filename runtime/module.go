package runtime

import "github.com/gohalo/halo/runtime/bef"

// A file may carry the module that it was lowered from; kernels then are instructions of that module, which they name by its id. The
// runtime opens the module once for each load and hands it to the binders. It does not know what is in it.

// SectionModule is the section of the module.
const SectionModule = bef.ModuleSection

// Modules says what a registry's kernels know about the modules of files.
type Modules struct {
	// Open opens the module of a file. It is called once by each [Load] of a file that has a module, before any kernel is bound. It must
	// check all that binders rely on, since a file may hold anything.
	Open func(*bef.File) (any, error)
	// MayShare reports whether a kernel may find its output out in the memory of its input in. Load asks it about plans that were read.
	MayShare func(b *Binding, out, in int) bool
}

// Modules sets what the registry's kernels know about the modules of files.
func (r *Registry) Modules(m Modules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkOpen("modules")
	r.modules = m
}

// loadModule opens the file's module, if it has one and a registered opener.
func (p *Program) loadModule(reg *Registry) (err error) {
	if reg.modules.Open == nil || !p.file.Has(SectionModule) {
		return nil
	}
	p.modules = reg.modules
	defer func() {
		if r := recover(); r != nil {
			err = panicStatus(r)
		}
	}()
	p.module, err = p.modules.Open(p.file)
	return err
}

// Module returns the module of the program's file as the registry's opener made it, or nil.
func (p *Program) Module() any { return p.module }

// Module returns the module of the program that the kernel is in, or what [Binding.WithModule] gave; nil if there is none.
func (b *Binding) Module() any { return b.module }

// WithModule sets the module of a use that is in no program, and returns b.
func (b *Binding) WithModule(m any) *Binding {
	b.module = m
	return b
}

// Int64Attr returns attribute i as a number.
func (b *Binding) Int64Attr(i int) (int64, error) {
	if i >= len(b.attrs) {
		return 0, missingAttr(i, b.Kernel)
	}
	bits, err := b.pool.Bits(b.attrs[i].Offset, bef.I64)
	return int64(bits), err
}
