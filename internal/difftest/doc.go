// Package difftest runs a module on both engines, the reference evaluator and the compiled program, and says where they part.
//
//	o := difftest.Run(ctx, m, difftest.Config{Pipeline: "cpu", Threads: 4})
//	o.Verdict // Same, or which engine refused, or Differ
//
// The two share the reader and the IR, and almost nothing else: passes, lowering, buffer plans, the driver and the fast kernels all
// stand between them. Inputs are made by the rules of halo run --fill. How far floating-point results may be apart is in [Tolerance].
package difftest
