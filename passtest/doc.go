// Package passtest tests passes with cases that are text: a module, the passes to run, and lines of CHECK comments as LLVM's and XLA's
// tests have them.
//
//	func TestPasses(t *testing.T) { passtest.Run(t, "testdata", catalogue.Parse) }
//
// runs every archive testdata/PASS/*.txtar. Each file of an archive is a case:
//
//	-- doubles.hlo --
//	HloModule m
//	ENTRY e {
//	  x = s32[] parameter(0)
//	  two = s32[] constant(2)
//	  // CHECK: ROOT %{{.*}} = s32[] add(%x, %x)
//	  ROOT y = s32[] multiply(x, two)
//	}
//
// The folder of the archive is the pipeline to run. Lines of a case change what is asked:
//
//	// PASS: fix(a,b)     run this pipeline
//	// PROFILE: xla       verify in this profile
//	// FP: rounding       results may change as rewrites of this class change them
//	// NOEXEC: reason     do not evaluate the module before and after
//	// CHECK-UNCHANGED    the passes must return the very module
//
// as does a file name that ends in .same.hlo, which means CHECK-UNCHANGED. A line // RUN: hlo-opt %s --passes=a,b | FileCheck %s is read too.
//
// Every case is verified before and after each pass, printed and read back, run a second time, and evaluated before and after on several
// inputs. The command halo check runs the same files, and halo check --update writes their CHECK lines.
package passtest
