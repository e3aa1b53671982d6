package halocmd

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
)

// plantedBug makes the command panic when it works on this file.
const plantedBug = "HALO_TEST_BUG"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"halo": func() {
		if bad := os.Getenv(plantedBug); bad != "" {
			atWork = func(name string) {
				if name == bad {
					panic("planted")
				}
			}
		}
		Main()
	}})
}

// update rewrites the files that scripts compare with.
var update = os.Getenv("HALO_UPDATE") != ""

// TestCommand runs the scripts of testdata/cmd: command lines, and what they print, write and return. Beside the commands of
// testscript there are
//
//	exit N halo …        the command ends with exit code N
//	json FILE PATH WANT  each line of FILE is a JSON object; at PATH (line.key.index…) is WANT, as JSON
//	keys FILE KEY…       the object in FILE has exactly these keys
//	npz FILE KEY=TYPE[DIMS]:VALUES…  write arrays
//	gzip FILE, head FILE N           pack a file into FILE.gz; cut a file to N bytes
//	proto FILE           serialize a text into FILE.pb
//	flip FILE N          invert byte N of a file
//	nothing GLOB         no file matches
func TestCommand(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "testdata", "cmd"),
		RequireExplicitExec: false,
		UpdateScripts:       update,
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("..")
			env.Setenv("ROOT", root)
			env.Setenv("CORPUS", filepath.Join(root, "..", "shared", "corpus"))
			return err
		},
		Condition: func(name string) (bool, error) {
			if name != "corpus" {
				return false, fmt.Errorf("no condition %q", name)
			}
			_, err := os.Stat(filepath.Join("..", "..", "shared", "corpus")) // beside the repository, or absent
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit": exitCommand, "json": jsonCommand, "keys": keysCommand, "npz": npzCommand,
			"head": headCommand, "gzip": gzipCommand, "proto": protoCommand, "flip": flipCommand, "nothing": nothingCommand,
		},
	})
}

func exitCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit N command…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		if _, scanErr := fmt.Sscanf(err.Error(), "exit status %d", &code); scanErr != nil {
			ts.Fatalf("%v", err)
		}
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH WANT")
	}
	var value any = jsonLines(ts, args[0])
	for key := range strings.SplitSeq(args[1], ".") {
		switch v := value.(type) {
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: no element %s in %v", args[1], key, v)
			}
			value = v[i]
		case map[string]any:
			value = v[key]
		default:
			ts.Fatalf("%s: no %q in %v", args[1], key, v)
		}
	}
	got, err := json.Marshal(value)
	ts.Check(err)
	if (string(got) == args[2]) == neg {
		ts.Fatalf("%s: got %s, want %s", args[1], got, args[2])
	}
}

func keysCommand(ts *testscript.TestScript, neg bool, args []string) {
	object, ok := jsonLines(ts, args[0])[0].(map[string]any)
	if !ok || len(object) != len(args)-1 {
		ts.Fatalf("got %v, want the keys %v", object, args[1:])
	}
	for _, k := range args[1:] {
		if _, ok := object[k]; !ok {
			ts.Fatalf("no %q in %v", k, object)
		}
	}
}

func jsonLines(ts *testscript.TestScript, file string) (lines []any) {
	for line := range strings.Lines(ts.ReadFile(file)) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("not JSON: %s", line)
		}
		lines = append(lines, v)
	}
	return lines
}

var arrayText = regexp.MustCompile(`^([\w/.\[\]']+)=(\w+)\[([\d,]*)\]:(.*)$`)

// npzCommand writes arrays whose elements are given as an HLO literal.
func npzCommand(ts *testscript.TestScript, neg bool, args []string) {
	var arrays []npz.Named
	for _, a := range args[1:] {
		part := arrayText.FindStringSubmatch(a)
		if part == nil {
			ts.Fatalf("%s: want KEY=TYPE[DIMS]:LITERAL", a)
		}
		text := fmt.Sprintf("ENTRY e { ROOT c = %s[%s] constant(%s) }", part[2], part[3], part[4])
		m, err := parser.ParseBytes(a, []byte(text))
		ts.Check(err)
		l, err := eval.Module(context.Background(), m, nil, eval.Options{})
		ts.Check(err)
		shape := l.Shape()
		descr, _ := npz.Descr(shape.Type().String())
		arrays = append(arrays, npz.Named{Name: part[1], Array: npz.Array{
			Descr: descr, ItemSize: shape.Type().ByteSize(), Shape: shape.Dimensions(), Data: l.Bytes()}})
	}
	var b bytes.Buffer
	if strings.HasSuffix(args[0], ".npy") {
		ts.Check(npz.WriteNPY(&b, arrays[0].Array))
	} else {
		ts.Check(npz.WriteNPZ(&b, arrays))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

func gzipCommand(ts *testscript.TestScript, neg bool, args []string) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".gz"), b.Bytes(), 0o666))
}

func protoCommand(ts *testscript.TestScript, neg bool, args []string) {
	m, err := parser.Parse(args[0], ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pb"), proto.Encode(m), 0o666))
}

func headCommand(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

func flipCommand(ts *testscript.TestScript, neg bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	data[n] ^= 0xff
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

func nothingCommand(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) > 0 {
		ts.Fatalf("there is %v", found)
	}
}

// TestEveryCommandHasAScript holds the command line to its tests.
func TestEveryCommandHasAScript(t *testing.T) {
	for _, name := range []string{"fmt", "verify", "opt", "replay", "lower", "asm", "dis", "run", "diff", "stats", "extract", "bisect", "check", "explain", "schedule"} {
		found, err := filepath.Glob(filepath.Join("..", "testdata", "cmd", "*"+name+"*.txtar"))
		require.NoError(t, err)
		require.NotEmpty(t, found, name)
	}
}
