package halocmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/distributed"
)

// distributedFlags are about programs that run in several processes.
type distributedFlags struct {
	Distributed       string        `help:"Share the devices with the processes that a launcher started with this one: mpi, none, or auto (mpi if mpirun or srun started several)." default:"auto" enum:"auto,mpi,none"`
	CollectiveTimeout time.Duration `help:"How long a collective may wait for another process; 0 means forever. A process that does not respond for 15s ends the job." default:"2m" placeholder:"TIME"`
	CommCPUs          string        `name:"comm-cpus" help:"Processors of each machine that its processes keep for communication, as taskset lists them (0,4-7), or last: the last of each process's own. Kernels run on the others." placeholder:"LIST"`

	workers int // of a process of a job
}

// launched is how many processes a launcher started together with this one, as the environment says.
func launched() int {
	if n, err := strconv.Atoi(os.Getenv("OMPI_COMM_WORLD_SIZE")); err == nil { // mpirun
		return n
	}
	if n, err := strconv.Atoi(os.Getenv("SLURM_NTASKS")); err == nil && os.Getenv("PMIX_RANK") != "" { // srun
		return n
	}
	return 1
}

// onThisMachine is how many of them run on this machine.
func onThisMachine() int {
	n, err := strconv.Atoi(os.Getenv("OMPI_COMM_WORLD_LOCAL_SIZE"))
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// share is how many of n processors are this process's: all that it was bound to, or as many as its like on this machine each get.
func share(n int) int {
	if distributed.Bound() {
		return max(1, n)
	}
	return max(1, n/onThisMachine())
}

// orphanLook is how often a process of a job looks whether its launcher is still there.
const orphanLook = 2 * time.Second

// companion is the command with Open MPI. It is a program of its own because one that loads libraries is not static.
const companion = "halo-mpi"

// join makes the process part of a job if the flags ask for it; the job is nil if they do not. It returns a function that leaves the job with the
// error of the command. A command without a wire is replaced by the one that has one.
func (f *distributedFlags) join(e *env) (leave func(error) error, err error) {
	leave = func(err error) error { return err }
	if f.Distributed == "none" || f.Distributed == "auto" && launched() < 2 {
		return leave, nil
	}
	if added.Wire == nil {
		return leave, become(companion, e.args)
	}
	go watchOrphan(nil, orphanLook, func() { // whoever would end this process has gone
		fmt.Fprintln(e.stderr, "halo: the launcher of this process has ended: so does this")
		os.Exit(exitInput)
	})
	f.workers = share(goruntime.GOMAXPROCS(0))
	rank := newRankWriter(e.stderr)
	o := distributed.Options{Timeout: f.CollectiveTimeout, Log: func(line string) { fmt.Fprintln(rank, line) }}
	if f.CollectiveTimeout == 0 {
		o.Timeout = -1
	}
	if o.Processors, err = f.processors(); err != nil {
		return leave, usageError{err}
	}
	if e.job, err = distributed.Start(added.Wire, o); err != nil {
		return leave, err
	}
	rank.prefix = fmt.Sprintf("[rank %d] ", e.job.Rank())
	e.stderr = rank
	if e.job.Rank() != 0 {
		e.stdout = io.Discard
	}
	return func(err error) error {
		e.tellJob(err)
		if closeErr := e.job.Close(exitCode(err)); err == nil {
			return closeErr
		}
		return err
	}, nil
}

// tellJob reports an error of this process to the others.
func (e *env) tellJob(err error) {
	if e.job != nil && err != nil && !errors.As(err, new(failure)) { // one that has been reported
		e.job.Fail(err)
	}
}

// processors are those that are kept for communication.
func (f *distributedFlags) processors() (list []int, err error) {
	if f.CommCPUs == "" {
		return nil, nil
	}
	all, err := distributed.Processors()
	if err != nil {
		return nil, fmt.Errorf("--comm-cpus: %w", err)
	}
	if f.CommCPUs == "last" {
		list = all[len(all)-1:]
	} else if list, err = cpuList(f.CommCPUs); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(list, func(c int) bool { return !slices.Contains(all, c) }); i >= 0 {
		return nil, fmt.Errorf("--comm-cpus=%s: the process may not use processor %d: it may use %v", f.CommCPUs, list[i], all)
	}
	if f.workers = share(len(all) - len(list)); len(all) <= len(list) {
		return nil, fmt.Errorf("--comm-cpus=%s: no processor is left for kernels: the process may use %v", f.CommCPUs, all)
	}
	return list, nil
}

// cpuList reads numbers and ranges of them, separated by commas.
func cpuList(s string) (list []int, err error) {
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b > maxCPU {
			return nil, fmt.Errorf("--comm-cpus: got %q, want numbers of processors such as 0,4-7, or last", s)
		}
		for ; a <= b; a++ {
			list = append(list, a)
		}
	}
	return list, nil
}

const maxCPU = 1023

// become replaces the process by another command, which lies beside it or on the path, with the same arguments.
func become(name string, args []string) error {
	var path string
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), name); exists(beside) {
			path = beside
		}
	}
	if path == "" {
		var err error
		if path, err = exec.LookPath(name); err != nil {
			return fmt.Errorf(`halo: error: a launcher has started %d processes, but this halo runs in one: there is no %s beside it or on the path.
Install Open MPI (Debian, Ubuntu: apt-get install openmpi-bin libopenmpi-dev) and build it:
	go build -tags mpi -o %s github.com/gohalo/halo/cmd/halo-mpi
Or run each process by itself: --distributed=none`, launched(), name, name)
		}
	}
	return execute(path, append([]string{name}, args...))
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// rankWriter puts a prefix before every line, and writes whole lines.
type rankWriter struct {
	mu     sync.Mutex
	w      io.Writer
	prefix string
	line   []byte
}

func newRankWriter(w io.Writer) *rankWriter { return &rankWriter{w: w} }

func (r *rankWriter) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rest := b; ; {
		line, after, ok := bytes.Cut(rest, []byte("\n"))
		if len(r.line) == 0 && (ok || len(line) > 0) {
			r.line = append(r.line, r.prefix...)
		}
		r.line = append(r.line, line...)
		if !ok {
			return len(b), nil
		}
		r.line = append(r.line, '\n')
		_, err := r.w.Write(r.line)
		if r.line = r.line[:0]; err != nil {
			return 0, err
		}
		rest = after
	}
}

// errOneDevice is the error of a job that a single device would run.
var errOneDevice = errors.New("one device runs the program, and there are several processes: see --spmd and --partitions, or --distributed=none")

// checkJob holds the devices to the processes of the job.
func (e *env) checkJob(g grid) error {
	switch {
	case e.job == nil:
		return nil
	case g.devices() == 1 && e.job.Size() > 1:
		return usageError{errOneDevice}
	case g.devices()%e.job.Size() != 0:
		return usageError{fmt.Errorf("%d processes cannot share %d devices: their number has to divide that of devices", e.job.Size(), g.devices())}
	}
	return nil
}

// threads is how many workers a process has: in a job, the processors divided among the processes of this machine.
func (c *runCmd) threads() int {
	if c.Threads == 0 && c.Processes.workers > 0 {
		return c.Processes.workers
	}
	return int(c.Threads)
}

// ownFile reports whether every process writes a file of its own, and what that is: %r in the name is the rank.
func (e *env) ownFile(name string) (string, bool) {
	if e.job == nil || !strings.Contains(name, "%r") {
		return name, false
	}
	return strings.ReplaceAll(name, "%r", strconv.Itoa(e.job.Rank())), true
}

// nameByRank puts the rank for %r into the names of the files that a process reads, and of those that each writes for itself.
func (c *runCmd) nameByRank(e *env) {
	names := []*string{&c.Inputs, &c.Compare, &c.Feeds.Infeed}
	for i := range c.Input {
		names = append(names, &c.Input[i])
	}
	for i := range c.Weights {
		names = append(names, &c.Weights[i])
	}
	for _, name := range names {
		*name, _ = e.ownFile(*name)
	}
}

// collect gives rank 0 the results of all devices. The other processes get none.
func (e *env) collect(ctx context.Context, s *halo.Signature, results [][]*hlo.Literal) ([][]*hlo.Literal, error) {
	var mine []byte
	from, to := e.job.Devices(len(results))
	for d := from; d < to; d++ {
		for i, l := range results[d] {
			data, err := l.Buffer(s.Results[i].Shape)
			if err != nil {
				return nil, err
			}
			mine = append(mine, data...)
		}
	}
	all, err := e.job.Gather(ctx, "collecting the results", mine)
	if err != nil || e.job.Rank() != 0 {
		return nil, err
	}
	for rank, data := range all[1:] {
		first := (rank + 1) * len(results) / e.job.Size()
		for d := first; d < (rank+2)*len(results)/e.job.Size(); d++ {
			results[d] = make([]*hlo.Literal, len(s.Results))
			for i, v := range s.Results {
				n := int(v.Shape.BufferSize())
				if n > len(data) {
					return nil, fmt.Errorf("rank %d has sent fewer results than the program has", rank+1)
				}
				if results[d][i], err = hlo.LiteralOfBuffer(v.Shape, data[:n:n]); err != nil {
					return nil, err
				}
				data = data[n:]
			}
		}
	}
	return results, nil
}
