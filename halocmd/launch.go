package halocmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// launchCmd starts a command in several processes.
type launchCmd struct {
	Processes int      `name:"np" short:"n" help:"Number of processes." default:"2"`
	Hostfile  string   `help:"Machines to run on, as mpirun reads them." placeholder:"FILE"`
	Arguments []string `arg:"" passthrough:"" name:"argument" help:"What each process runs: run prog.hlo --spmd --inputs in.npz."`
}

// Help is what --help says beyond the flags.
func (launchCmd) Help() string {
	return `Starts a process for each part of the devices with mpirun, and ends all of them when one fails. It needs halo-mpi, which is
the same command linked with Open MPI: docs/distributed.md.

  halo launch -n 4 run sharded.hlo --spmd --inputs in.npz`
}

// Run starts mpirun, and ends it if it does not end by itself when a process has died.
func (c *launchCmd) Run(e *env) error {
	if c.Processes < 1 {
		return usageError{errors.New("--np: want a positive number")}
	}
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		return errors.New("halo: error: there is no mpirun on the path: install Open MPI (Debian, Ubuntu: apt-get install openmpi-bin libopenmpi-dev)")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"-np", strconv.Itoa(c.Processes), "--bind-to", "none"} // mpirun binds two processes to one processor each, however many there are
	if c.Hostfile != "" {
		args = append(args, "--hostfile", c.Hostfile)
	} else if c.Processes > goruntime.NumCPU() {
		args = append(args, "--oversubscribe")
	}
	cmd := exec.Command(mpirun, append(append(args, self), c.Arguments...)...)
	cmd.Stdin, cmd.Stdout = e.stdin, e.stdout
	if os.Geteuid() == 0 { // who is root here may be root there
		cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer forwardSignals(cmd.Process)()
	ended := make(chan struct{})
	end := func(why string) { endAfter(cmd.Process, why, e.stderr, ended) }
	go watchOrphan(ended, launcherLook, func() { end("the process that started it has ended") })
	if c.Hostfile == "" {
		go watchChildless(cmd.Process.Pid, ended, func() { end("its processes have ended") })
	}
	watchLauncher(stderr, e.stderr, func() { end("a process has died") })
	err = cmd.Wait()
	close(ended)
	if code := cmd.ProcessState.ExitCode(); err != nil {
		if code <= 0 {
			code = exitInput
		}
		return failure(code)
	}
	return nil
}

// forwardSignals passes on what should end the job.
func forwardSignals(p *os.Process) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range signals {
			_ = p.Signal(s)
		}
	}()
	return func() { signal.Stop(signals); close(signals) }
}

// The message of mpirun that begins to end a job, and how long ending it may take. If a process dies while it connects to mpirun, Open MPI 4.1 sometimes
// says so, kills the others, and waits forever.
var lastWords = []string{"mpirun noticed that", "the job has been aborted", "MPI_ABORT was invoked"}

const (
	launcherGrace = 3 * time.Second
	launcherLook  = time.Second // how often is looked whether it should still be there
)

// watchLauncher copies what mpirun says until it has ended, and calls aborted when it says that it ends the job.
func watchLauncher(from io.Reader, to io.Writer, aborted func()) {
	var once sync.Once
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		fmt.Fprint(to, line)
		for _, s := range lastWords {
			if strings.Contains(line, s) {
				once.Do(func() { go aborted() })
			}
		}
		if err != nil {
			return
		}
	}
}

// watchOrphan calls orphaned if the parent of this process ends before ended is closed.
func watchOrphan(ended <-chan struct{}, every time.Duration, orphaned func()) {
	for parent := os.Getppid(); os.Getppid() == parent; {
		select {
		case <-ended:
			return
		case <-time.After(every):
		}
	}
	orphaned()
}

// watchChildless calls childless if a process that had children has had none for a while.
func watchChildless(pid int, ended <-chan struct{}, childless func()) {
	const patience = 5 // looks
	had, without := false, 0
	for without < patience {
		select {
		case <-ended:
			return
		case <-time.After(launcherLook):
		}
		switch n, known := childrenOf(pid); {
		case !known:
			return
		case n > 0:
			had, without = true, 0
		case had:
			without++
		}
	}
	childless()
}

// childrenOf counts the children of a process that have not ended, where the system says.
func childrenOf(pid int) (n int, known bool) {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, false
	}
	for _, child := range strings.Fields(string(list)) {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		if err != nil {
			continue
		}
		if _, state, ok := strings.Cut(string(stat), ") "); ok && !strings.HasPrefix(state, "Z") {
			n++
		}
	}
	return n, true
}

// endAfter ends a process that does not end by itself in time.
func endAfter(p *os.Process, why string, to io.Writer, ended <-chan struct{}) {
	for _, s := range []os.Signal{syscall.SIGTERM, os.Kill} {
		select {
		case <-ended:
			return
		case <-time.After(launcherGrace):
			fmt.Fprintf(to, "halo launch: mpirun does not end, and %s: %v\n", why, s)
			_ = p.Signal(s)
		}
	}
}
