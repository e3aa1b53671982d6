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
	Arguments []string `arg:"" name:"argument" help:"What each process runs, after --: run prog.hlo --spmd --inputs in.npz."`
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
	args := []string{"-np", strconv.Itoa(c.Processes)}
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
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchLauncher(cmd.Process, stderr, e.stderr)
	}()
	<-watched
	err = cmd.Wait()
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

// What mpirun says when it has begun to end a job, and how long it may take. If a process dies while it connects to mpirun, Open MPI 4.1 sometimes
// says so, kills the others, and waits for ever.
var lastWords = []string{"mpirun noticed that", "the job has been aborted", "MPI_ABORT was invoked"}

const launcherGrace = 3 * time.Second

// watchLauncher copies what mpirun says until it has ended.
func watchLauncher(p *os.Process, from io.Reader, to io.Writer) {
	var once sync.Once
	ended := make(chan struct{})
	defer close(ended)
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		fmt.Fprint(to, line)
		for _, s := range lastWords {
			if strings.Contains(line, s) {
				once.Do(func() { go endAfter(p, to, ended) })
			}
		}
		if err != nil {
			return
		}
	}
}

// endAfter ends a process that has not ended by itself in time.
func endAfter(p *os.Process, to io.Writer, ended <-chan struct{}) {
	for _, s := range []os.Signal{syscall.SIGTERM, os.Kill} {
		select {
		case <-ended:
			return
		case <-time.After(launcherGrace):
			fmt.Fprintf(to, "halo launch: mpirun does not end: %v\n", s)
			_ = p.Signal(s)
		}
	}
}
