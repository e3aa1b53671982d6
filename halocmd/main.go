// Package halocmd is the command halo as a package, for programs that add passes, pipelines, rules and kernels of their own to it:
//
//	func main() {
//		halocmd.Main(halocmd.Extension{Passes: pass.Family{Plain: []*pass.Pass{mine.DoubleToAdd}}})
//	}
//
// The folder examples/extension is such a program, with its tests.
package halocmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/commandline"
	"github.com/gohalo/halo/internal/pages"
	"github.com/gohalo/halo/runtime/distributed"
)

// The exit codes people script against.
const (
	exitOK    = 0
	exitInput = 1
	exitUsage = 2
	exitBug   = 3
)

// Main runs the command, with what a program adds to it, on the arguments of the process, and ends the process.
func Main(extensions ...Extension) {
	os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, extensions...))
}

// Run is [Main] as a function, for tests. It returns the exit status, and must not be called by several goroutines at once.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, extensions ...Extension) int {
	if err := extend(extensions); err != nil {
		fmt.Fprintf(stderr, "halo: this program is at fault: %v\n", err)
		return exitBug
	}
	return run(args, stdin, stdout, stderr)
}

// commands is the command line: one field, and one file, for each subcommand.
type commands struct {
	Fmt    fmtCmd    `cmd:"" help:"Parse programs and print them."`
	Verify verifyCmd `cmd:"" help:"Verify programs; report every finding with its rule."`
	Opt    optCmd    `cmd:"" help:"Run passes and print the module."`
	Replay replayCmd `cmd:"" help:"Run the reproducer of a failing pass."`
	Reduce reduceCmd `cmd:"" help:"Minimise a program that makes a pass or a command fail."`
	Lower  lowerCmd  `cmd:"" help:"Lower HLO to a BEF file."`
	Asm    asmCmd    `cmd:"" help:"Assemble host program text to a BEF file."`
	Dis    disCmd    `cmd:"" help:"Disassemble a BEF file to host program text."`
	Run    runCmd    `cmd:"" help:"Run a program."`
	Launch launchCmd `cmd:"" help:"Run a command in several processes, over Open MPI."`

	Compare compareCmd `cmd:"" help:"Run a program with two pipelines or engines and find the first difference."`

	Mem        memCmd        `cmd:"" help:"Report how a program uses memory, and how to save some."`
	Profile    profileCmd    `cmd:"" help:"Measure where a program spends its time: by op, source line and loop."`
	Diff       diffCmd       `cmd:"" help:"Compare two programs instruction by instruction, ignoring names."`
	Ls         lsCmd         `cmd:"" help:"List the modules of a dump."`
	View       viewCmd       `cmd:"" help:"Show programs in a browser."`
	LSP        lspCmd        `cmd:"" name:"lsp" help:"Serve editors: the Language Server Protocol."`
	Play       playCmd       `cmd:"" help:"Make a page in which halo runs, as WebAssembly."`
	Stats      statsCmd      `cmd:"" help:"Report a program's composition and cost."`
	Schedule   scheduleCmd   `cmd:"" help:"Estimate how much asynchronous latency is hidden."`
	Overlap    overlapCmd    `cmd:"" help:"Simulate the executor: what overlaps, and what prevents more."`
	Calibrate  calibrateCmd  `cmd:"" help:"Measure this machine for the cost model."`
	Extract    extractCmd    `cmd:"" help:"Extract an instruction and its operands as a program."`
	Bisect     bisectCmd     `cmd:"" help:"Find the pass, and the rewrite, that makes a command fail."`
	Check      checkCmd      `cmd:"" help:"Run tests of passes that have CHECK lines."`
	Explain    explainCmd    `cmd:"" help:"Explain a pass, a rule, a pipeline, a rule of the verifier, or an opcode."`
	ListPasses listPassesCmd `cmd:"" help:"List the passes and pipelines."`
	Archive    archiveCmd    `cmd:"" help:"Show the versions in an archive that halo opt dumped."`

	Man         manCmd     `cmd:"" help:"Write the manual page."`
	ShowVersion versionCmd `cmd:"" name:"version" help:"Print the version."`

	MaxMemory memorySize    `help:"Limit of memory: 500MB or 2GiB. Default: what the machine, the control group and ulimit allow." placeholder:"SIZE"`
	Timeout   time.Duration `help:"Stop after this time: 10s or 2m. Default: never." placeholder:"TIME"`
	Version   bool          `help:"Print the version."`
}

// env is what a subcommand works with.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	progress       *progress
	records        bool            // standard output is for records
	lenient        bool            // what is not known is kept as it is written
	shapes         []hlo.Shape     // see shapeFlags
	manyModules    bool            // the command takes HLO texts of several modules as they are
	wrote          map[string]bool // what writeResult has written
	archives       bool            // the command takes archives as they are
	mapInputs      bool            // large texts are mapped; what is read from an input lives no longer than it
	args           []string        // of the command
	line           *commandline.Program[*env]
	ended          func() error // why the command was told to stop, if it was
	watched        bool         // the command stops by itself when it is told to
	common         *commands    // with the flags that all commands have
	job            *distributed.Job
}

// failure is an error that has been reported already; it carries the exit code.
type failure int

func (f failure) Error() string { return fmt.Sprintf("exit status %d", int(f)) }

// usageError is a mistake in the command line that the grammar does not show.
type usageError struct{ error }

// missingFile is the error of a command that wants a file, unless a flag says what else to do.
func missingFile(command string) error {
	return &commandline.UsageError{Command: command, Err: errors.New("missing argument <file>")}
}

// run is the whole command as a function, so that tests can call it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	watch := newProgress(stderr)
	out := &results{w: stdout}
	e := &env{stdin: stdin, stdout: watch.over(out), stderr: watch.over(stderr), progress: watch, args: args}
	defer func() { code = out.exit(code, stderr) }()
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "halo: this is a bug, please report it: %v\n%s", p, debug.Stack())
			code = exitBug
		}
	}()
	if len(args) == 0 {
		args, e.stdout = []string{"--help"}, e.stderr
		defer func() { code = exitUsage }()
	}
	if args[0] == "--version" { // no grammar is needed for that
		fmt.Fprintln(e.stdout, halo.Version())
		return exitOK
	}
	collectLater()
	if args[0] == "run" {
		warmUp(args, pages.EnlargeHeap())
	}
	limitMemory()
	args, err := xlaFlags(args, os.Getenv("XLA_FLAGS"), stderr)
	if err != nil {
		fmt.Fprintf(stderr, "halo: %v\n", err)
		return exitUsage
	}
	defer watchMemory(e)()
	e.common = &commands{}
	line := &commandline.Program[*env]{
		Name: "halo", Help: "The HLO toolchain: read, check, transform, lower and run HLO programs.",
		Commands: e.common, Vars: printVars(), Env: e, Out: e.stdout, Err: e.stderr,
	}
	e.line = line
	err = line.Run(expandOptions(args))
	if usage := (*commandline.UsageError)(nil); errors.As(err, &usage) {
		command := ""
		if usage.Command != "" {
			command = usage.Command + " "
		}
		fmt.Fprintf(stderr, "halo: %v\nRun \"halo %s--help\" for usage.\n", err, command)
		return exitUsage
	}
	code = exitCode(err)
	if err != nil && !errors.As(err, new(failure)) {
		prefix := ""
		if code == exitUsage {
			prefix = "halo: "
		}
		fmt.Fprintf(stderr, "%s%v\n", prefix, err)
	}
	return code
}
