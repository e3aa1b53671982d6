//go:build mpi && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

// feed is a program of four devices that is fed and feeds.
const feed = `HloModule feed, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[6] parameter(0)
  t = token[] after-all()
  in = (f32[6], token[]) infeed(t)
  y = f32[6] get-tuple-element(in), index=0
  u = token[] get-tuple-element(in), index=1
  z = f32[6] add(x, y)
  sum = f32[6] all-reduce(z), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, to_apply=add
  w = f32[6] multiply(sum, y)
  out = token[] outfeed(w, u), outfeed_shape=f32[6]
  ROOT r = f32[6] subtract(sum, x)
}
`

// split is a program that has to be partitioned for four devices.
const split = `HloModule split, num_partitions=4

ENTRY e {
  x = f32[10,6] parameter(0), sharding={devices=[4,1]<=[4]}
  y = f32[6,5] parameter(1), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  ROOT r = f32[10,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[2,2]<=[4]}
}
`

// apart is one whose devices have nothing to say to each other.
const apart = `HloModule apart, num_partitions=4

ENTRY e {
  x = f32[10,6] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT r = f32[10,6] negate(x), sharding={devices=[4,1]<=[4]}
}
`

// devicesFile writes the arrays of some devices to a file.
func devicesFile(t *testing.T, path string, seed uint64, from, to int) {
	t.Helper()
	var all []arrays.Named
	for d := from; d < to; d++ {
		l, err := arrays.Fill("random", seed+uint64(d), 0, hlo.MakeShape(hlo.F32, 6))
		require.NoError(t, err)
		all = append(all, arrays.Named{Key: fmt.Sprintf("d%d/0", d), Literal: l})
	}
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, arrays.WriteNPZ(f, all))
}

// bytesOf reads files of arrays: their elements by key.
func bytesOf(t *testing.T, paths ...string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, path := range paths {
		given, err := arrays.ReadNPZ(path)
		require.NoError(t, err)
		for key, a := range given {
			assert.NotContains(t, all, key)
			all[key] = string(a.Data)
		}
	}
	return all
}

// TestFiles gives and takes files of each process, and files of all: the bytes are those of a run in one process.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"feed.hlo": feed, "split.hlo": split, "apart.hlo": apart} {
		require.NoError(t, os.WriteFile(in(name), []byte(text), 0o666))
	}
	for name, seed := range map[string]uint64{"in": 10, "infeed": 20} {
		devicesFile(t, in(name+".npz"), seed, 0, 4)
		devicesFile(t, in(name+".0.npz"), seed, 0, 2)
		devicesFile(t, in(name+".1.npz"), seed, 2, 4)
	}
	run := func(program string, args ...string) []string {
		return append([]string{"run", in(program)}, args...)
	}
	one := func(args []string) {
		out, err := exec.Command(filepath.Join(bin, "halo"), args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	two := func(args []string) {
		o := launch(t, 2, args...).end(t)
		require.Equal(t, 0, o.code, o.stderr)
	}
	one(run("feed.hlo", "--inputs", in("in.npz"), "--infeed", in("infeed.npz"), "--outfeed", in("out.npz"), "-o", in("r.npz")))
	two(run("feed.hlo", "--inputs", in("in.%r.npz"), "--infeed", in("infeed.%r.npz"), "--outfeed", in("out2.npz"), "-o", in("r2.npz"), "--trace", in("t.json")))
	two(run("feed.hlo", "--inputs", in("in.npz"), "--infeed", in("infeed.npz"), "--outfeed", in("out3.%r.npz"), "-o", in("r3.%r.npz"), "--trace", in("t.%r.json")))
	for _, name := range []string{"out", "r"} {
		want := bytesOf(t, in(name+".npz"))
		assert.Len(t, want, 4)
		assert.Equal(t, want, bytesOf(t, in(name+"2.npz")))
		assert.Equal(t, want, bytesOf(t, in(name+"3.0.npz"), in(name+"3.1.npz")))
	}
	lanes := []string{"replica 0, partition 0", "replica 0, partition 1", "messages", "replica 0, partition 2", "replica 0, partition 3", "messages"}
	for file, ranks := range map[string][]int{"t.json": {0, 0, 0, 1, 1, 1}, "t.0.json": {0, 0, 0}, "t.1.json": {1, 1, 1}} {
		var want []string
		for i, rank := range ranks {
			want = append(want, fmt.Sprintf("rank %d: %s", rank, lanes[(i+3*ranks[0])%len(lanes)]))
		}
		names, moved := traced(t, in(file))
		assert.Equal(t, want, names)
		assert.Equal(t, 96, moved[ranks[0]], "bytes that the rank receives for the all-reduce: of two devices, and as many as it sends")
	}

	for _, program := range []string{"split.hlo", "apart.hlo"} {
		one(run(program, "--spmd", "--fill=random", "-o", in("s.npz")))
		two(run(program, "--spmd", "--fill=random", "-o", in("s2.npz")))
		assert.Equal(t, bytesOf(t, in("s.npz")), bytesOf(t, in("s2.npz")))
	}
}

// traced reads a trace: the names of its processes, and the bytes of messages for the all-reduce by rank.
func traced(t *testing.T, path string) (names []string, moved map[int]int) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var events []struct {
		Name, Cat string
		Pid       int
		Args      struct {
			Name  string
			Bytes int
		}
	}
	require.NoError(t, json.Unmarshal(text, &events))
	moved = make(map[int]int)
	for _, e := range events {
		if e.Name == "process_name" {
			names = append(names, e.Args.Name)
		}
		if e.Cat == "message" && e.Name == "all-reduce sum (execution 1)" {
			var rank int
			_, err := fmt.Sscanf(names[e.Pid], "rank %d:", &rank)
			require.NoError(t, err)
			moved[rank] += e.Args.Bytes
		}
	}
	return names, moved
}
