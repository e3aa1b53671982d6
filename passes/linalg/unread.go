package linalg

import (
	"regexp"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// UnreadVectors tells calls that find eigenvectors which nobody reads to find eigenvalues alone.
var UnreadVectors = &pass.Pass{
	Name: "unread-vectors",
	Doc: `tell LAPACK to find eigenvalues alone where nobody reads the eigenvectors

jnp.linalg.eigvalsh calls syevd for both, and drops the vectors:

	(V, w, info) lapack_ssyevd_ffi(a), {mode = 86}  → lapack_ssyevd_ffi(a), {mode = 78}   if element 0 is not read

The values have the same bits. What was V is then the operand, as LAPACK leaves it.`,
	About: []hlo.Opcode{hlo.OpCustomCall},
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpCustomCall || !vectorsUnread(in) || !ctx.Spend("call") {
					continue
				}
				e.Computation(c.ID()).Instr(in.ID()).SetAttr(hlo.KeyBackendConfig, vectorsMode().ReplaceAllString(in.Common().BackendConfig, "${1}78"))
				ctx.Count("calls", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// vectorsMode is the choice of vectors in the configuration of a call.
var vectorsMode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(mode\s*=\s*)86\b`) })

// vectorsUnread reports whether a call finds eigenvectors that nobody reads.
func vectorsUnread(in hlo.Instruction) bool {
	_, routine, ok := hlo.Lapack(hlo.AttrsOf[hlo.CustomCallAttrs](in).Target)
	if !ok || routine != "syevd" && routine != "heevd" || in.IsRoot() {
		return false
	}
	if mode, says := hlo.LapackChoice(in, "mode"); !says || mode != 'V' {
		return false
	}
	for u := range in.Users() {
		if u.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](u).Index == 0 {
			return false
		}
	}
	return true
}
