package commandline_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/commandline"
)

// line is a command line with a flag and an argument of each kind.
type line struct {
	Copy copyCmd `cmd:"" help:"Copy files."`
	Wait waitCmd `cmd:"" help:"Wait."`
	Loud bool    `help:"Say more."`
}

type copyCmd struct {
	From string   `arg:"" help:"The source."`
	To   []string `arg:"" optional:"" name:"target" help:"The targets."`

	LargeFiles *bool    `negatable:"" help:"Copy large files."`
	Mode       string   `short:"m" enum:"fast,safe" default:"safe" aliases:"copy_mode" help:"How: ${modes}."`
	Skip       []string `default:"a,b" help:"Leave out."`
	Only       []string `sep:"none" help:"Copy these."`
	Remarks    string   `bare:"all" help:"Print remarks." placeholder:"KIND"`
	limits     `embed:""`
}

type limits struct {
	Max  int     `default:"7" help:"At most so many." group:"Limits"`
	Rate float64 `help:"Bytes a second." group:"Limits"`
}

func (*copyCmd) Help() string { return "A paragraph of two\nlines.\n\n  copy a b\n  copy c d" }

func (c *copyCmd) Run(out *strings.Builder) error {
	large := "unset"
	if c.LargeFiles != nil {
		large = fmt.Sprint(*c.LargeFiles)
	}
	fmt.Fprintf(out, "%s %q large=%s %s skip=%q only=%q remarks=%s %d %g", c.From, c.To, large, c.Mode, c.Skip, c.Only, c.Remarks, c.Max, c.Rate)
	return nil
}

type waitCmd struct {
	For time.Duration `required:"" help:"So long."`
}

func (c *waitCmd) AfterApply(out *strings.Builder) error {
	if c.For < 0 {
		return errors.New("cannot wait for the past")
	}
	return nil
}

func (c *waitCmd) Run(out *strings.Builder) error {
	_, err := fmt.Fprint(out, c.For)
	return err
}

// run returns what the subcommand wrote and the help that was asked for.
func run(args string) (ran, help string, err error) {
	var env strings.Builder
	var out bytes.Buffer
	p := commandline.Program[*strings.Builder]{Name: "tool", Help: "A tool.", Commands: &line{}, Vars: map[string]string{"modes": "fast or safe"},
		Env: &env, Out: &out, Err: &out}
	err = p.Run(strings.Fields(args))
	return env.String(), out.String(), err
}

func TestRun(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"copy x", `x [] large=unset safe skip=["a" "b"] only=[] remarks= 7 0`},
		{"copy x y z --large-files --mode=fast", `x ["y" "z"] large=true fast skip=["a" "b"] only=[] remarks= 7 0`},
		{"copy --no-large-files -mfast x --loud", `x [] large=false fast skip=["a" "b"] only=[] remarks= 7 0`},
		{"copy --skip=c,d --skip e --only=f,g x", `x [] large=unset safe skip=["c" "d" "e"] only=["f,g"] remarks= 7 0`},
		{"copy --copy_mode=fast --remarks --max 3 --rate=1e3 x", `x [] large=unset fast skip=["a" "b"] only=[] remarks=all 3 1000`},
		{"copy --remarks=missed -- --x", `--x [] large=unset safe skip=["a" "b"] only=[] remarks=missed 7 0`},
		{"copy - -m safe", `- [] large=unset safe skip=["a" "b"] only=[] remarks= 7 0`},
		{"wait --for=90s", "1m30s"},
	} {
		got, _, err := run(c.args)
		require.NoError(t, err, c.args)
		assert.Equal(t, c.want, got, c.args)
	}
}

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct{ args, command, want string }{
		{"cpy x", "", `unknown command "cpy", did you mean "copy"?`},
		{"help cpy", "", `unknown command "cpy", did you mean "copy"?`},
		{"copy", "copy", `missing argument <from>`},
		{"copy x --larg-files", "copy", `unknown flag --larg-files, did you mean "--large-files"?`},
		{"copy x --mode=slow", "copy", "--mode=slow: want fast or safe"},
		{"copy x --max=many", "copy", "--max=many: want an integer"},
		{"copy x --max", "copy", "--max: want a value: --max=N"},
		{"wait", "wait", "missing flag --for=N"},
		{"wait --for=1s x", "wait", "unexpected argument x"},
	} {
		_, _, err := run(c.args)
		var usage *commandline.UsageError
		require.ErrorAs(t, err, &usage, c.args)
		assert.Equal(t, c.want, usage.Error(), c.args)
		assert.Equal(t, c.command, usage.Command, c.args)
	}
	_, _, err := run("wait --for=-1s")
	assert.EqualError(t, err, "cannot wait for the past")
}

func TestHelp(t *testing.T) {
	_, help, err := run("copy --help")
	require.NoError(t, err)
	for _, want := range []string{
		"Usage: tool copy <from> [<target> ...] [flags]\n", "\nA paragraph of two lines.\n\n  copy a b\n  copy c d\n", "      --[no-]large-files          Copy large files.\n",
		"  -m, --mode=TEXT                 How: fast or safe. Default: safe.\n", "      --remarks[=KIND]            Print remarks.\n",
		"\nLimits:\n      --max=N                     At most so many. Default: 7.\n", "\nFlags of all commands:\n      --loud                      Say more.\n",
	} {
		assert.Contains(t, help, want)
	}
	assert.NotContains(t, help, "copy_mode")
	_, help, err = run("")
	require.NoError(t, err)
	assert.Contains(t, help, "  copy          Copy files.\n")
}

type common struct{ Size int }

// TestEmbedded: an embedded struct without its tag is a mistake that would leave its flags out in silence.
func TestEmbedded(t *testing.T) {
	assert.NotPanics(t, func() {
		_ = commandline.Flags(&struct {
			common `embed:""`
		}{}, nil)
	})
	assert.Panics(t, func() { _ = commandline.Flags(&struct{ common }{}, nil) })
}
