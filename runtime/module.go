package runtime

import "github.com/gohalo/halo/runtime/bef"

// A file may carry the module that it was lowered from; kernels then are instructions of that module, which they name by its id. The
// runtime opens the module once for each load and hands it to the binders. It does not know what is in it.

// SectionModule is the section of the module.
const SectionModule = bef.ModuleSection

// Modules sets how the module of a file is opened. open is called once by each [Load] of a file that has a module, before any kernel is
// bound; it must check all that binders rely on, since a file may hold anything.
func (r *Registry) Modules(open func(*bef.File) (any, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkOpen("modules")
	r.openModule = open
}

// loadModule opens the file's module, if it has one that somebody can open.
func (p *Program) loadModule(reg *Registry) (err error) {
	if reg.openModule == nil || !p.file.Has(SectionModule) {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = panicStatus(r)
		}
	}()
	p.module, err = reg.openModule(p.file)
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
