package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// config makes the header: counts of devices, aliases, layouts of the entry, frontend attributes.
func (c *converter) config(main *function) {
	cfg := *c.e.Config()
	cfg.FileName = c.m.File
	entry := c.e.View(main.comp)
	signature := entry.Signature()
	cfg.EntryLayout = &signature
	for _, a := range c.m.Attrs {
		switch a.Name {
		case "mhlo.num_partitions":
			cfg.NumPartitions = max(1, intOf(a.Value))
		case "mhlo.num_replicas":
			cfg.ReplicaCount = max(1, intOf(a.Value))
		case "mhlo.frontend_attributes":
			if d, ok := a.Value.(mlir.Dict); ok && len(d) > 0 {
				cfg.FrontendAttributes = frontend(mlir.Attrs(d))
			}
		}
	}
	if text := c.meshes.text(); text != "" {
		cfg.FrontendAttributes = withFrontend(cfg.FrontendAttributes, "xla.sdy.meshes", text)
	}
	c.aliases(&cfg, main)
	c.entryLayout(&cfg)
	if len(c.frames.table.Frames) > 0 {
		frames := c.frames.table
		cfg.StackFrames = &frames
	}
	c.e.SetConfig(&cfg)
}

func intOf(a mlir.Attr) int64 {
	v, _ := a.(mlir.Int)
	return v.Value
}

// aliases are what arguments say of their buffers.
func (c *converter) aliases(cfg *hlo.ModuleConfig, main *function) {
	args, _ := main.op.Attrs.Get("arg_attrs").(mlir.Array)
	for i, a := range args {
		d, _ := a.(mlir.Dict)
		attrs := mlir.Attrs(d)
		if out, ok := attrs.Get("tf.aliasing_output").(mlir.Int); ok {
			if out.Value < 0 || out.Value >= int64(len(main.typ.Out)) {
				c.fail(main.op, "argument %d aliases result %d, there are %d", i, out.Value, len(main.typ.Out))
			}
			alias := hlo.Alias{Output: hlo.ShapeIndex{}, Parameter: int64(i), ParameterIndex: hlo.ShapeIndex{}}
			if len(main.typ.Out) > 1 {
				alias.Output = hlo.ShapeIndex{out.Value}
			}
			cfg.InputOutputAlias = append(cfg.InputOutputAlias, alias)
		}
		if flagOf(attrs.Get("jax.buffer_donor")) {
			cfg.BufferDonors = append(cfg.BufferDonors, hlo.BufferDonor{Parameter: int64(i), Index: hlo.ShapeIndex{}})
		}
	}
}

// entryLayout has the layouts that the module asks for; those inside stay as they are.
func (c *converter) entryLayout(cfg *hlo.ModuleConfig) {
	params, ok := c.m.Attrs.Get("mhlo.xla_entry_computation_parameter_layouts").(mlir.Array)
	if ok {
		layout := *cfg.EntryLayout
		layout.Parameters = append([]hlo.Shape(nil), layout.Parameters...)
		for i := range layout.Parameters {
			if i < len(params) {
				layout.Parameters[i] = laidOut(layout.Parameters[i], params[i])
			}
		}
		cfg.EntryLayout = &layout
	}
	if result := c.m.Attrs.Get("mhlo.xla_entry_computation_result_layout"); result != nil {
		layout := *cfg.EntryLayout
		if list, ok := result.(mlir.Array); ok && layout.Result.IsTuple() {
			parts := layout.Result.Elems()
			for i := range parts {
				if i < len(list) {
					parts[i] = laidOut(parts[i], list[i])
				}
			}
			layout.Result = hlo.MakeTuple(parts...)
		} else if ok && len(list) == 1 {
			layout.Result = laidOut(layout.Result, list[0])
		}
		cfg.EntryLayout = &layout
	}
}

func laidOut(s hlo.Shape, a mlir.Attr) hlo.Shape {
	order, ok := mlir.Ints(a)
	if !ok || !s.IsArray() || len(order) != s.Rank() {
		return s
	}
	return s.WithLayout(&hlo.Layout{MinorToMajor: order})
}
