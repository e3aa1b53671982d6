package halocmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRoleOf(t *testing.T) {
	for file, want := range map[string][3]string{
		"module_0020.jit_f.before_optimizations.txt":                        {"module_0020.jit_f", "before"},
		"d/module_0020.jit_f.before_optimizations.hlo.pb.gz":                {"d/module_0020.jit_f", "before"},
		"module_0020.jit_f.3.cpu_after_optimizations.txt":                   {"module_0020.jit_f.3", "after"},
		"module_0020.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb":           {"module_0020.jit_f", "after"},
		"module_0020.jit_f.0007.simplification.after_dce.before_cse.txt":    {"module_0020.jit_f", "pass", "0007.simplification.after_dce.before_cse"},
		"module_0020.jit_f.execution_0000.hlo_unoptimized_snapshot.pb":      {"module_0020.jit_f", "snapshot"},
		"module_0020.jit_f.snapshot.-114989946.pb":                          {"module_0020.jit_f", "snapshot"},
		"x/module_0020.jit_f/module.mlir":                                   {"x/module_0020.jit_f", "stablehlo"},
		"1718.module_0020.jit_f.before_optimizations.txt":                   {"1718.module_0020.jit_f", "before"},
		"module_0020.jit_f.cpu_after_optimizations-memory-usage-report.txt": {"module_0020.jit_f.cpu_after_optimizations-memory-usage-report", "program"},
		"step.hlo":      {"step", "program"},
		"a/module.mlir": {"a/module", "program"},
	} {
		module, r, pass := roleOf(file)
		assert.Equal(t, want, [3]string{module, string(r), pass}, file)
	}
}
