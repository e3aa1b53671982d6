package hostkernels_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// seedPrograms are the programs of the design texts, as they stand where they are whole. What they print is tested with the command; here is
// what the texts say about values: when they exist, of which kind they are, which are one, and who holds how many references.
const seedPrograms = `
func @sample_with_chain(%ch0 : !tfrt.chain) -> (i32, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %three = tfrt.add.i32 %one, %two
  %ch1 = tfrt.print.i32 %three, %ch0
  tfrt.return %three, %ch1 : i32, !tfrt.chain
}
func @control_dep0() {
  %a = dht.create_uninit_tensor.i32.2 [2: i32, 2: i32]
  dht.fill_tensor.i32 %a 41
  dht.print_tensor.i32 %a
  tfrt.return
}
func @double_and_print() -> i32 {
  %x = tfrt.constant.i32 42
  %y = tfrt.add.i32 %x, %x
  tfrt.print.i32 %y
  tfrt.return %y : i32
}
func @print_from_mars() -> i32 {
  %y = tfrt.async.read.from.mars
  tfrt.print.i32 %y
  tfrt.return %y : i32
}
func @return_first_arg(%x: i32, %y: i32) -> i32 {
  tfrt.return %x : i32
}
func @slow_call() -> i32 {
  %x = tfrt.constant.i32 42
  %y = tfrt.async.read.from.mars
  %z = tfrt.call @return_first_arg(%x, %y) : (i32, i32) -> (i32)
  tfrt.return %z : i32
}
func @two_streams() -> i32 attributes {tfrt.cost_threshold = 1 : i64} {
  %c = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %a = tfrt.print.i32 %one, %c
  %b = tfrt.print.i32 %two, %c
  tfrt.return %one : i32
}
func @fast_call() -> i32 {
  %x = tfrt.constant.i32 42
  %y = tfrt.async.read.from.mars
  %z = tfrt.call @return_first_arg(%x, %y) {bef.nonstrict} : (i32, i32) -> (i32)
  tfrt.return %z : i32
}
func @indirect_async_return() -> i32 {
  %c1 = tfrt.constant.i32 1
  %v2 = "tfrt.async_add.i32"(%c1, %c1) : (i32, i32) -> i32
  %v3 = "tfrt.async_add.i32"(%v2, %v2) : (i32, i32) -> i32
  tfrt.return %v3 : i32
}
func @indirect_async_arg() -> i32 {
  %c1 = tfrt.constant.i32 1
  %v2 = "tfrt.async_add.i32"(%c1, %c1) : (i32, i32) -> i32
  %v3 = "tfrt.async_add.i32"(%v2, %v2) : (i32, i32) -> i32
  %x = tfrt.call @return_first_arg(%c1, %v3) : (i32, i32) -> i32
  tfrt.return %x : i32
}
func @share(%x: i32) -> (i32, i32) {
  tfrt.return %x, %x : i32, i32
}
func @caller() -> (i32, i32, i32) {
  %c1 = "test.thousand"() : () -> i32
  %c2, %c3 = tfrt.call @share(%c1) : (i32) -> (i32, i32)
  tfrt.return %c1, %c2, %c3 : i32, i32, i32
}
func @make_indirect() -> i32 {
  %c1 = tfrt.constant.i32 1
  %v2 = "tfrt.async_add.i32"(%c1, %c1) : (i32, i32) -> i32
  %v3 = "tfrt.async_add.i32"(%v2, %v2) : (i32, i32) -> i32
  tfrt.return %v3 : i32
}
func @unused() {
  %unused = tfrt.call @make_indirect() : () -> i32
  tfrt.return
}
func @async_kernel() -> () {
  %in = "test.counted"() : () -> !test.counted
  %out = "async_kernel"(%in) : (!test.counted) -> !test.counted
  tfrt.return
}
func @counts() -> (!test.counted, i32) {
  %x = "test.counted"() : () -> !test.counted
  %y = "test.references"(%x, %x) : (!test.counted, !test.counted) -> i32
  tfrt.return %x, %y : !test.counted, i32
}
`

func TestSeedSynchronousKernelsReturnAvailableValues(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		r := s.execute(t, "double_and_print")
		assert.True(t, r[0].IsConcrete())
		assert.False(t, r[0].IsIndirect())
		assert.EqualValues(t, 84, async.Get[int32](r[0]))
		assert.Equal(t, "int32 = 84\n", s.out.take(), "the return comes after every kernel has been tried")
	})
}

func TestSeedChainsComeFromOutside(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		late := async.MakeUnconstructed[async.Chain]()
		r := s.execute(t, "sample_with_chain", late.Value())
		assert.EqualValues(t, 3, async.Get[int32](r[0]))
		assert.True(t, r[1].IsUnavailable())
		assert.Empty(t, s.out.take())
		late.Emplace(async.Chain{})
		s.program.Host().Quiesce()
		assert.True(t, r[1].IsConcrete())
		assert.Equal(t, "int32 = 3\n", s.out.take())
	})
}

// Nothing orders the two: the tensor is printed, with one content or the other.
func TestSeedWithoutChainsNothingIsOrdered(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		s.execute(t, "control_dep0")
		s.program.Host().Quiesce()
		assert.Contains(t, s.out.take(), "DenseHostTensor dtype = i32, shape = [2, 2], values = [")
		assert.Empty(t, s.memory.Leak())
	})
}

func TestSeedAsynchronousKernelsReturnUnavailableValues(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		r := s.execute(t, "print_from_mars")
		assert.False(t, r[0].IsIndirect(), "the kernel knows the type of what it will give")
		s.program.Host().Quiesce()
		assert.EqualValues(t, 42, async.Get[int32](r[0]))
		assert.Equal(t, "int32 = 42\n", s.out.take())
	})
}

// The return comes after every kernel has been tried, also those that other workers have taken.
func TestSeedReturnAfterEveryStream(t *testing.T) {
	s := loadSeeds(t, "multi:2", false)
	for range 200 {
		s.execute(t, "two_streams")
		out := strings.Split(s.out.take(), "\n")
		assert.ElementsMatch(t, []string{"int32 = 1", "int32 = 2", ""}, out)
		if t.Failed() {
			break
		}
	}
}

func TestSeedNonStrictCallReturnsAtOnce(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		r := s.execute(t, "fast_call")
		assert.True(t, r[0].IsConcrete(), "nobody waits for Mars")
		assert.False(t, r[0].IsIndirect())
		s.program.Host().Quiesce()
	})
	t.Run("strict", func(t *testing.T) { // but for what the program marks
		s := loadSeeds(t, "single", true)
		assert.True(t, s.execute(t, "fast_call")[0].IsConcrete())
		r := s.execute(t, "slow_call")
		assert.True(t, r[0].IsUnavailable())
		assert.True(t, r[0].IsIndirect())
		s.program.Host().Quiesce()
		assert.EqualValues(t, 42, async.Get[int32](r[0]))
	})
}

func TestSeedResultsThatNobodyHasComputedAreIndirect(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		r := s.execute(t, "indirect_async_return")
		s.program.Host().Quiesce()
		assert.EqualValues(t, 4, async.Get[int32](r[0]))
	})
	// With workers the producer may run before Execute returns; without, it cannot.
	s := loadSeeds(t, "single", false)
	r := s.execute(t, "indirect_async_return")
	assert.True(t, r[0].IsIndirect() && r[0].IsUnavailable())
	s.program.Host().Quiesce()
}

func TestSeedPendingArgumentOfANonStrictKernel(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		r := s.execute(t, "indirect_async_arg")
		assert.True(t, r[0].IsConcrete())
		assert.EqualValues(t, 1, async.Get[int32](r[0]))
		s.program.Host().Quiesce()
	})
}

func TestSeedOneValueUnderFourNames(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		r := s.execute(t, "caller")
		assert.Same(t, r[0], r[1])
		assert.Same(t, r[0], r[2])
		assert.False(t, r[0].IsIndirect())
	})
}

// Setting a register counts as a use until it is set: the test's end finds nothing left, and nothing was dropped twice.
func TestSeedUnusedIndirectResult(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		s.execute(t, "unused")
		s.program.Host().Quiesce()
	})
}

func TestSeedAsynchronousKernelHoldsWhatItNeeds(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		s.execute(t, "async_kernel")
		assert.Equal(t, 1, s.live, "the kernel's own reference")
		s.turn <- struct{}{}
		<-s.turn
		assert.Zero(t, s.live)
	})
}

// The text counts 1 + 2 + 1 for the value. The 1 for setting the register is needed where an indirect stands there before; here there is
// none (see docs/rationale.md), so the kernel sees 2 + 1, and the caller gets the 1.
func TestSeedReferencesOfAValue(t *testing.T) {
	onSeeds(t, false, func(t *testing.T, s *seedMachine) {
		r := s.execute(t, "counts")
		assert.EqualValues(t, 3, async.Get[int32](r[1]))
		assert.Equal(t, 1, r[0].NumRefs())
		assert.Equal(t, 1, s.live)
	})
}

// ternary is the design text's example of a kernel that is better not strict: it needs its condition only, and hands on one of its other
// arguments whether or not that is there.
func ternary(f *runtime.Frame) {
	choice := func() *async.Value {
		v := f.Arg(2)
		if async.Get[bool](f.Arg(0)) {
			v = f.Arg(1)
		}
		v.AddRef()
		return v
	}
	condition := f.Arg(0)
	if condition.IsAvailable() {
		f.Set(0, choice())
		return
	}
	yes, no, result := f.Arg(1), f.Arg(2), async.MakeIndirect()
	for _, v := range []*async.Value{condition, yes, no, &result.Value} {
		v.AddRef()
	}
	f.Set(0, &result.Value)
	condition.AndThen(func() {
		if async.Get[bool](condition) {
			result.ForwardTo(yes)
			no.DropRef()
		} else {
			result.ForwardTo(no)
			yes.DropRef()
		}
		condition.DropRef()
		result.DropRef()
	})
}

func TestSeedTernaryForwardsWhatIsNotThere(t *testing.T) {
	for _, queue := range []string{"single", "multi:2"} {
		t.Run(queue, func(t *testing.T) {
			async.CheckLeaks(t)
			reg := runtime.NewRegistry()
			hostkernels.Register(reg)
			reg.Kernel("test.ternary", runtime.Kernel{Run: ternary, NonStrict: true})
			q, err := workqueue.New(queue)
			require.NoError(t, err)
			t.Cleanup(q.Close)
			host := runtime.NewHost(runtime.HostOptions{Queue: q})
			p, err := runtime.Load(assemble(t, `
func @choose(%c: i1, %x: i32, %y: i32) -> i32 {
  %r = "test.ternary"(%c, %x, %y) : (i1, i32, i32) -> i32
  tfrt.return %r : i32
}`), reg, runtime.LoadOptions{Host: host})

			require.NoError(t, err)
			req := runtime.NewRequest(t.Context(), host, runtime.RequestOptions{})
			t.Cleanup(req.Close)
			choose := func(c *async.Value, x, y *async.Value) *async.Value {
				r := make([]*async.Value, 1)
				require.NoError(t, p.Function("choose").Execute(req.NewExecContext(), []*async.Value{c, x, y}, r))
				t.Cleanup(r[0].DropRef)
				return r[0]
			}
			late := async.MakeUnconstructed[int32]()
			there := choose(async.Bool(false), late.Value(), async.Int32(7))
			assert.True(t, there.IsConcrete(), "nobody needs the other one")
			assert.EqualValues(t, 7, async.Get[int32](there))
			pending := choose(async.Bool(true), late.Value(), async.Int32(7))
			assert.True(t, pending.IsUnavailable(), "the kernel has returned what is not there")
			undecided := async.MakeUnconstructed[bool]()
			open := choose(undecided.Value(), late.Value(), async.Int32(8))
			assert.True(t, open.IsUnavailable())
			undecided.Emplace(false)
			require.NoError(t, q.Await(t.Context(), open))
			assert.EqualValues(t, 8, async.Get[int32](open), "decided before the other one has come")
			late.Emplace(1000)
			host.Quiesce()
			assert.EqualValues(t, 1000, async.Get[int32](pending))
		})
	}
}

// A kernel must not leave a result empty: nobody could wait for it.
func TestSeedEmptyResultIsAnError(t *testing.T) {
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	reg.Kernel("test.forgets", runtime.Kernel{Run: func(*runtime.Frame) {}})
	var reported string
	host := runtime.NewHost(runtime.HostOptions{Diagnostics: func(e *runtime.Error) { reported = e.Message }})
	p, err := runtime.Load(assemble(t, `
func @forgets() -> (i32, i32) {
  %x = "test.forgets"() : () -> i32
  %y = tfrt.add.i32 %x, %x
  %z = tfrt.constant.i32 3
  tfrt.return %y, %z : i32, i32
}`), reg, runtime.LoadOptions{Host: host})

	require.NoError(t, err)
	r := make([]*async.Value, 2)
	require.NoError(t, p.Function("forgets").Execute(runtime.NewRequest(t.Context(), host, runtime.RequestOptions{}).NewExecContext(), nil, r))
	assert.ErrorContains(t, r[0].Err(), "kernel did not set result 0")
	assert.EqualValues(t, 3, async.Get[int32](r[1]), "what does not depend on it is computed")
	assert.Equal(t, "kernel did not set result 0", reported)
}

// TestEveryPromiseHasATest holds the list of what the design texts promise against the tests that it names.
func TestEveryPromiseHasATest(t *testing.T) {
	exists := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, root := range []string{"../..", "../../../halocmd"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir():
				return err
			case strings.HasSuffix(path, ".txtar"):
				exists[filepath.Base(path)] = true
			case strings.HasSuffix(path, "_test.go"):
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				for _, m := range function.FindAllStringSubmatch(string(text), -1) {
					exists[m[1]] = true
				}
			}
			return nil
		}))
	}
	list, err := os.ReadFile("testdata/promises.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(list)) {
		if promise, tests, ok := strings.Cut(line, "|"); ok {
			assert.NotEmpty(t, strings.Fields(tests), promise)
			for _, name := range strings.Fields(tests) {
				assert.True(t, exists[name], "%s: there is no %s", promise, name)
			}
		}
	}
}
