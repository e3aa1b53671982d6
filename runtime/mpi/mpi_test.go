//go:build mpi && linux

package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/internal/jobtest"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/runtime/distributed"
	"github.com/gohalo/halo/runtime/mpi"
)

// TestMain is a process of a job if a launcher has started it.
func TestMain(m *testing.M) {
	if os.Getenv("HALO_MPI_TEST") == "" {
		os.Exit(m.Run())
	}
	j, err := distributed.Start(mpi.Open, distributed.Options{Timeout: time.Minute, Log: func(s string) { fmt.Fprintln(os.Stderr, s) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := 0
	if err := process(j); err != nil {
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", j.Rank(), err)
		status = 1
	}
	if err := j.Close(status); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// process runs every program, on both engines.
func process(j *distributed.Job) error {
	if want, err := strconv.Atoi(os.Getenv("HALO_MPI_TEST")); err != nil || j.Size() != want {
		return fmt.Errorf("%d processes, want %d", j.Size(), want)
	}
	ctx := context.Background()
	ran := 0
	for _, engine := range []halo.Engine{halo.BEF, halo.Eval} {
		for i, p := range append(jobtest.Generated(), jobtest.Corpus("../../../shared")...) {
			if engine == halo.Eval && i%4 != 0 {
				continue
			}
			r, err := jobtest.Prepare(ctx, p, engine)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			if r == nil {
				continue
			}
			if r.Devices()%j.Size() == 0 {
				err = r.Run(ctx, j)
				ran++
			}
			if r.Close(); err != nil {
				return err
			}
		}
	}
	if err := twice(ctx, j); err != nil {
		return err
	}
	if j.Rank() == 0 {
		fmt.Printf("%d programs, %d processes\n", ran, j.Size())
	}
	if ran == 0 {
		return errors.New("no program ran")
	}
	return nil
}

// twice begins an execution while another one is under way: it is refused, and the job goes on.
func twice(ctx context.Context, j *distributed.Job) error {
	p := jobtest.Generated()[0]
	r, err := jobtest.Prepare(ctx, p, halo.BEF)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Devices()%j.Size() != 0 {
		return fmt.Errorf("%s: %d processes cannot share %d devices", p.Name, j.Size(), r.Devices())
	}
	m, err := halo.LoadBytes("m.hlo", []byte("HloModule m\n\nENTRY e {\n  ROOT x = f32[8] parameter(0)\n}\n"))
	if err != nil {
		return err
	}
	n := j.Size()
	first, err := j.NewTransport(ctx, m.HLO(), devices.Grid{Replicas: 1, Partitions: n}, func() (distributed.Identity, error) {
		return distributed.Identity{Module: "m", Devices: n}, nil
	})
	if err != nil {
		return err
	}
	const want = "a job has one execution at a time"
	if err := r.Run(ctx, j); err == nil || !strings.Contains(err.Error(), want) {
		return fmt.Errorf("a second execution at once: error %v, want %q", err, want)
	}
	first.Close()
	return r.Run(ctx, j)
}

// TestBits runs every program in 1, 2 and 4 processes of Open MPI: the bits are those of the run in one process.
func TestBits(t *testing.T) {
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("mpirun is not installed")
	}
	for _, c := range []struct {
		size int
		args []string
	}{{1, nil}, {2, nil}, {4, nil}, {2, []string{"--mca", "btl", "self,tcp"}}} {
		t.Run(fmt.Sprint(c.size, c.args), func(t *testing.T) {
			cmd := exec.Command(mpirun, append(append([]string{"-np", fmt.Sprint(c.size), "--oversubscribe"}, c.args...), os.Args[0])...)
			cmd.Env = append(os.Environ(), fmt.Sprintf("HALO_MPI_TEST=%d", c.size), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			t.Logf("%s", out)
		})
	}
}
