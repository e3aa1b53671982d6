//go:build mpi && linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bin is the folder with halo and halo-mpi, and texts the programs.
var bin, texts string

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		fmt.Println("skipped: mpirun is not installed")
		return
	}
	os.Exit(func() int {
		var err error
		if bin, err = os.MkdirTemp("", "halo-mpi"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(bin)
		for name, args := range map[string][]string{"halo": {"../halo"}, "halo-mpi": {"-tags", "mpi", "."}} {
			cmd := exec.Command("go", append([]string{"build", "-o", filepath.Join(bin, name)}, args...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				fmt.Printf("%s\n", out)
				return 1
			}
		}
		texts = filepath.Join(bin, "texts")
		for name, text := range programs {
			if err := os.MkdirAll(texts, 0o777); err != nil {
				panic(err)
			}
			if err := os.WriteFile(filepath.Join(texts, name), []byte(text), 0o666); err != nil {
				panic(err)
			}
		}
		return m.Run()
	}())
}

// loop is a program that reduces as often as it is told, and before that, on one device, may loop for ever.
func loop(times int, stuckDevice int) string {
	return fmt.Sprintf(`HloModule reduce_in_a_loop, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

less {
  s = (s32[], f32[300,300]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(%d)
  ROOT c = pred[] compare(i, n), direction=LT
}

body {
  s = (s32[], f32[300,300]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  v = f32[300,300] get-tuple-element(s), index=1
  w = f32[300,300] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[300,300] tanh(w)
  sum = f32[300,300] all-reduce(t), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, to_apply=add
  k = f32[] constant(0.01)
  kb = f32[300,300] broadcast(k), dimensions={}
  x = f32[300,300] multiply(sum, kb)
  ROOT u = (s32[], f32[300,300]) tuple(j, x)
}

forever {
  s = (u32[], f32[300,300]) parameter(0)
  d = u32[] get-tuple-element(s), index=0
  stuck = u32[] constant(%d)
  ROOT c = pred[] compare(d, stuck), direction=EQ
}

same { ROOT s = (u32[], f32[300,300]) parameter(0) }

ENTRY e {
  x = f32[300,300] parameter(0)
  d = u32[] partition-id()
  first = (u32[], f32[300,300]) tuple(d, x)
  after = (u32[], f32[300,300]) while(first), condition=forever, body=same
  y = f32[300,300] get-tuple-element(after), index=1
  zero = s32[] constant(0)
  i = (s32[], f32[300,300]) tuple(zero, y)
  l = (s32[], f32[300,300]) while(i), condition=less, body=body
  ROOT r = f32[300,300] get-tuple-element(l), index=1
}
`, times, stuckDevice)
}

var programs = map[string]string{
	"short.hlo": loop(20, 99), "long.hlo": loop(1_000_000, 99), "stuck.hlo": loop(20, 2),
	"other.hlo":  strings.ReplaceAll(loop(20, 99), "0.01", "0.02"),
	"shapes.hlo": strings.ReplaceAll(loop(20, 99), "300,300", "301,301"),
}

// outcome is how a job ended.
type outcome struct {
	stdout, stderr string
	took           time.Duration
	code           int
}

// job is a job of several processes that is being watched.
type job struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	began          time.Time
}

// start starts mpirun with arguments; halo stands for the command.
func start(t *testing.T, args ...string) *job {
	t.Helper()
	for i, a := range args {
		if a == "halo" {
			args[i] = filepath.Join(bin, "halo")
		}
	}
	return begin(t, exec.Command("mpirun", append([]string{"--oversubscribe"}, args...)...))
}

// launch starts halo launch.
func launch(t *testing.T, size int, args ...string) *job {
	t.Helper()
	return begin(t, exec.Command(filepath.Join(bin, "halo"), append([]string{"launch", "-n", fmt.Sprint(size), "--"}, args...)...))
}

func begin(t *testing.T, cmd *exec.Cmd) *job {
	t.Helper()
	j := &job{cmd: cmd, began: time.Now()}
	j.cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	j.cmd.Dir = texts
	j.cmd.Stdout, j.cmd.Stderr = &j.stdout, &j.stderr
	require.NoError(t, j.cmd.Start())
	return j
}

// end waits for a job, which may take a minute.
func (j *job) end(t *testing.T) outcome {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() { _ = j.cmd.Process.Kill() })
	err := j.cmd.Wait()
	if !timer.Stop() {
		t.Errorf("the job does not end: %s", j.stderr.String())
	}
	o := outcome{j.stdout.String(), j.stderr.String(), time.Since(j.began), j.cmd.ProcessState.ExitCode()}
	if err == nil {
		o.code = 0
	}
	for range 50 { // mpirun may end a moment before what it has killed
		if len(processes(j.cmd.Process.Pid)) == 0 {
			return o
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("processes are left: %v", processes(j.cmd.Process.Pid))
	return o
}

// processes lists the processes of a job that a launcher has started, or its child, zombies too, in the order of their ranks.
func processes(launcher int) (pids []int) {
	found := make(map[int]int) // by rank
	ranks := 0
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(environ, []byte("OMPI_COMM_WORLD_RANK=")) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		if parent := parentOf(stat); parent != launcher {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", parent))
			if parentOf(stat) != launcher {
				continue
			}
		}
		m := regexp.MustCompile(`OMPI_COMM_WORLD_RANK=(\d+)`).FindSubmatch(environ)
		rank, _ := strconv.Atoi(string(m[1]))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found[rank], ranks = pid, max(ranks, rank+1)
	}
	for rank := range ranks {
		if pid, ok := found[rank]; ok {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf reads the parent from the status of a process.
func parentOf(stat []byte) int {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// rank waits for a process of a job.
func (j *job) rank(t *testing.T, rank, size int) int {
	t.Helper()
	for range 500 {
		if pids := processes(j.cmd.Process.Pid); len(pids) == size {
			return pids[rank]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the processes do not start: %s", j.stderr.String())
	return 0
}

// TestRun runs a program on both engines in 2 and 4 processes, writes the results in both ways, and compares them with those of one process.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, engine := range []string{"bef", "eval"} {
		one := filepath.Join(dir, engine+".npz")
		out, err := exec.Command(filepath.Join(bin, "halo"), "run", filepath.Join(texts, "short.hlo"), "--engine="+engine, "--fill=random", "-o", one).CombinedOutput()
		require.NoError(t, err, "%s", out)
		want, err := os.ReadFile(one)
		require.NoError(t, err)
		for _, n := range []string{"2", "4"} {
			many := filepath.Join(dir, engine+n+".npz")
			o := start(t, "-np", n, "halo", "run", "short.hlo", "--engine="+engine, "--fill=random", "-o", many, "--print", "--json").end(t)
			require.Equal(t, 0, o.code, o.stderr)
			assert.Equal(t, 1, strings.Count(o.stdout, `"ok":true`), "rank 0 speaks")
			got, err := os.ReadFile(many)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want, got), "%s processes compute other results", n)
		}
		o := start(t, "-np", "2", "halo", "run", "short.hlo", "--engine="+engine, "--fill=random", "-o", filepath.Join(dir, engine+".%r.npz")).end(t)
		require.Equal(t, 0, o.code, o.stderr)
		for rank := range 2 {
			assert.FileExists(t, filepath.Join(dir, fmt.Sprintf("%s.%d.npz", engine, rank)))
		}
	}
}

// TestFaults makes jobs that cannot end well: they end soon, and say why.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"other program": {[]string{"-np", "3", "halo", "run", "short.hlo", "--fill=random", ":", "-np", "1", "halo", "run", "other.hlo", "--fill=random"},
			[]string{"the processes run different programs: rank 3 has another program"}},
		"other shapes": {[]string{"-np", "1", "halo", "run", "shapes.hlo", "--fill=random", ":", "-np", "3", "halo", "run", "short.hlo", "--fill=random"},
			[]string{"the processes run different programs: rank 0 has another program"}},
		"other engine": {[]string{"-np", "3", "halo", "run", "short.hlo", "--fill=random", ":", "-np", "1", "halo", "run", "short.hlo", "--fill=random", "--engine=eval"},
			[]string{"rank 3 has engine eval, not bef"}},
		"no such file": {[]string{"-np", "1", "halo", "run", "nowhere.hlo", ":", "-np", "1", "halo", "run", "short.hlo", "--fill=random"},
			[]string{"[rank 0] nowhere.hlo: error: no such file", "rank 0 failed"}},
		"no inputs":         {[]string{"-np", "2", "halo", "run", "short.hlo"}, []string{"parameter leaf 0"}},
		"number of ranks":   {[]string{"-np", "3", "halo", "run", "short.hlo", "--fill=random"}, []string{"3 processes cannot share 4 devices"}},
		"one device":        {[]string{"-np", "2", "halo", "run", "short.hlo", "--partitions=1", "--fill=random"}, []string{"there are several processes"}},
		"cannot be written": {[]string{"-np", "2", "halo", "run", "short.hlo", "--fill=random", "-o", "no/such/folder/out.npz"}, []string{"[rank 0] "}},
		"hangs in the program": {[]string{"-np", "4", "halo", "run", "stuck.hlo", "--fill=random", "--collective-timeout=3s"},
			[]string{"all-reduce sum (execution 1) has waited for rank 2 for 3", "rank 2: device 2 is at work"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := start(t, c.args...).end(t)
			assert.NotZero(t, o.code)
			assert.Less(t, o.took, 20*time.Second)
			for _, want := range c.want {
				assert.Contains(t, o.stderr, want)
			}
		})
	}
}

// TestStopped stops a process: the others find out that it gives no sign of life.
func TestStopped(t *testing.T) {
	j := start(t, "-np", "4", "halo", "run", "long.hlo", "--fill=random", "--collective-timeout=3s")
	pid := j.rank(t, 1, 4)
	time.Sleep(2 * time.Second)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	o := j.end(t)
	assert.NotZero(t, o.code)
	assert.Regexp(t, `all-reduce sum \(execution \d+\): rank 1 has given no sign of life`, o.stderr)
}

// TestKilled kills processes at random points, as many as HALO_KILLS says: each job ends soon, leaves nothing, and its errors name the rank.
func TestKilled(t *testing.T) {
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("HALO_KILLS")); err == nil {
		kills = n
	}
	var longest time.Duration
	named := 0
	for k := range kills {
		size := []int{2, 4}[k%2]
		victim := rand.IntN(size)
		j := launch(t, size, "run", "long.hlo", "--fill=random")
		pid := j.rank(t, victim, size)
		all := processes(j.cmd.Process.Pid)
		time.Sleep(time.Duration(rand.IntN(2500)) * time.Millisecond)
		killed := time.Now()
		_ = syscall.Kill(pid, syscall.SIGKILL)
		o := j.end(t)
		took := time.Since(killed)
		longest = max(longest, took)
		assert.NotZero(t, o.code)
		assert.Less(t, took, 10*time.Second)
		for _, pid := range all { // those whose launcher has ended are collected by another process
			assert.Eventually(t, func() bool { _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); return err != nil }, 10*time.Second, 10*time.Millisecond, "a process is left")
		}
		if !assert.Regexp(t, fmt.Sprintf(`(process rank|\brank) %d\b`, victim), o.stderr) {
			continue
		}
		if strings.Contains(o.stderr, "all-reduce sum (execution") {
			named++
		}
	}
	t.Logf("%d killed; the longest end took %v; %d of the jobs had a collective under way and named it", kills, longest, named)
}
