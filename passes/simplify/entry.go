package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// dropEntryParameters removes unused parameters of the program, and writes the header accordingly. A parameter whose memory the program
// is to use stays.
func dropEntryParameters(ctx *pass.Context, e *hlo.Editor, m hlo.Module) error {
	entry := e.Computation(m.Entry().ID())
	cfg := *e.Config()
	for range m.Callers(entry.ID()) {
		return nil // the program calls itself by another way
	}
	for i, p := range slices.Backward(entry.View().Parameters()) {
		if entry.UserCount(p) > 0 || entry.Root() == p || entry.At(p).NumControlSuccessors() > 0 || isLent(&cfg, i) || !ctx.Spend("entry-parameter") {
			continue
		}
		if err := entry.RemoveParameter(i); err != nil {
			return err
		}
		withoutParameter(&cfg, i)
		e.SetConfig(&cfg)
		ctx.Count("entry parameters", 1)
	}
	return nil
}

// isLent reports whether a header gives the memory of parameter i away.
func isLent(cfg *hlo.ModuleConfig, i int) bool {
	return slices.ContainsFunc(cfg.InputOutputAlias, func(a hlo.Alias) bool { return a.Parameter == int64(i) }) ||
		slices.ContainsFunc(cfg.BufferDonors, func(d hlo.BufferDonor) bool { return d.Parameter == int64(i) })
}

// withoutParameter takes parameter i out of a header; its lists become lists of their own.
func withoutParameter(cfg *hlo.ModuleConfig, i int) {
	if cfg.EntryLayout != nil && i < len(cfg.EntryLayout.Parameters) {
		layout := *cfg.EntryLayout
		layout.Parameters = slices.Delete(slices.Clone(layout.Parameters), i, i+1)
		cfg.EntryLayout = &layout
	}
	if i < len(cfg.AllowSPMDToParameters) && len(cfg.AllowSPMDToParameters) > 1 {
		cfg.AllowSPMDToParameters = slices.Delete(slices.Clone(cfg.AllowSPMDToParameters), i, i+1)
	}
	cfg.InputOutputAlias = slices.Clone(cfg.InputOutputAlias)
	for k := range cfg.InputOutputAlias {
		if cfg.InputOutputAlias[k].Parameter > int64(i) {
			cfg.InputOutputAlias[k].Parameter--
		}
	}
	cfg.BufferDonors = slices.Clone(cfg.BufferDonors)
	for k := range cfg.BufferDonors {
		if cfg.BufferDonors[k].Parameter > int64(i) {
			cfg.BufferDonors[k].Parameter--
		}
	}
}
