package halocmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// lsCmd lists what a dump holds.
type lsCmd struct {
	Files []string `arg:"" name:"file" help:"Folders that XLA dumped into, archives, files."`
	Long  bool     `short:"l" help:"List every version of a module, the passes among them."`
	Sort  string   `help:"Order: name, instructions or time." default:"name" enum:"name,instructions,time"`
	JSON  bool     `name:"json" help:"One JSON object for each module, and one for each argument."`

	readFlags `embed:""`
}

// Help is what --help says beyond the flags.
func (lsCmd) Help() string {
	return `Each module has one line for all its files in the dump: the program before and after optimization, after single passes, snapshots of its
executions, and the StableHLO that it comes from. Time is the compile time, if the dump has it (--xla_dump_module_metadata), or else
the time from the first to the last written file of the module, which a copied dump lacks.

  halo ls dump
  halo ls -l dump/module_0007.jit_step.before_optimizations.txt
  halo ls --sort=time dump.tar.gz

The printed names are arguments of the other commands, even inside an archive: halo stats dump.zip/module_0007.jit_f.before_optimizations.txt.`
}

func (c *lsCmd) Run(e *env) error {
	e.records = c.JSON
	code := exitOK
	for _, arg := range c.Files {
		l, err := c.list(e, arg)
		if err == nil && len(l.threads) == 0 {
			err = fmt.Errorf("%s: error: no programs here", arg)
		}
		if err != nil {
			err = fmt.Errorf("%s", strings.TrimPrefix(describe(err, nil), "error: "))
		}
		if err != nil || len(l.failed) > 0 {
			code = exitInput
		}
		if c.JSON {
			if err := c.records(e, arg, l, err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			fmt.Fprintln(e.stderr, err)
			continue
		}
		c.print(e, arg, l)
	}
	if code != exitOK {
		return failure(code)
	}
	return nil
}

// sorted is the threads in the order that was asked for.
func (c *lsCmd) sorted(l *listing) []*thread {
	all := slices.Clone(l.threads)
	switch c.Sort {
	case "instructions":
		slices.SortStableFunc(all, func(a, b *thread) int { return cmp.Compare(b.instructions(), a.instructions()) })
	case "time":
		slices.SortStableFunc(all, func(a, b *thread) int { return cmp.Compare(b.Seconds, a.Seconds) })
	}
	return all
}

// instructions is the size of a module: of the program that was compiled, or else of whatever version there is.
func (t *thread) instructions() int {
	n := 0
	for _, v := range t.Versions {
		if v.about != nil {
			n = max(n, v.Instructions)
		}
	}
	if v := t.version(roleBefore); v != nil {
		n = v.Instructions
	}
	return n
}

// elided is how many constants a module has whose values no version has.
func (t *thread) elided() int {
	least := -1
	for _, v := range t.Versions {
		if v.about != nil && (v.Role == roleBefore || v.Role == roleProgram || v.Role == roleSnapshot || v.Role == roleStableHLO) && (least < 0 || v.Elided < least) {
			least = v.Elided
		}
	}
	if after := t.version(roleAfter); least < 0 && after != nil {
		least = after.Elided
	}
	return max(least, 0)
}

func (c *lsCmd) print(e *env, arg string, l *listing) {
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "MODULE\tBEFORE\tAFTER\tPASSES\tPARAMETERS\tCONSTANTS\tTIME\tALSO")
	for _, t := range c.sorted(l) {
		before, after, size := "-", "-", (*about)(nil)
		for _, v := range t.Versions {
			if v.about != nil && (size == nil || v.Role == roleBefore) {
				size = v.about
			}
		}
		if v := t.version(roleBefore); v != nil {
			before = fmt.Sprint(v.Instructions)
		} else if v := t.version(roleProgram); v != nil {
			before = fmt.Sprint(v.Instructions)
		}
		if v := t.version(roleAfter); v != nil {
			after = fmt.Sprint(v.Instructions)
		}
		parameters, constants := "-", "-"
		if size != nil {
			parameters, constants = orNothing(size.ParameterBytes), orNothing(size.ConstantBytes)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.Module, before, after, dash(t.count(rolePass)), parameters, constants, milliseconds(t.Seconds), t.also())
		if c.Long {
			for _, v := range t.Versions {
				n := "-"
				if v.about != nil {
					n = fmt.Sprint(v.Instructions)
				}
				fmt.Fprintf(w, "  %s\t%s\t\t\t\t\t\t%s, %s\n", v.File, n, cmp.Or(v.Pass, string(v.Role)), orNothing(v.Bytes))
			}
		}
	}
	w.Flush()
	l.summary(e, arg)
}

// also is what else there is of a module, and what is missing.
func (t *thread) also() string {
	var list []string
	if n := t.count(roleSnapshot); n > 0 {
		list = append(list, count(n, "snapshot", "snapshots"))
	}
	if t.count(roleStableHLO) > 0 {
		list = append(list, "StableHLO")
	}
	if t.count(roleBefore) > 0 && t.count(roleAfter) == 0 {
		list = append(list, "not compiled to the end")
	}
	if n := t.elided(); n > 0 {
		list = append(list, count(n, "elided constant", "elided constants"))
	}
	for _, v := range t.Versions {
		if v.Error != "" {
			list = append(list, "unreadable")
			break
		}
	}
	return strings.Join(list, ", ")
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func milliseconds(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f ms", seconds*1e3)
}

// extremes are the largest module, and the slowest to compile; nil where nothing is known.
func (l *listing) extremes() (largest, slowest *thread) {
	for _, t := range l.threads {
		if t.instructions() > 0 && (largest == nil || t.instructions() > largest.instructions()) {
			largest = t
		}
		if t.Seconds > 0 && (slowest == nil || t.Seconds > slowest.Seconds) {
			slowest = t
		}
	}
	return largest, slowest
}

// summary says what is notable.
func (l *listing) summary(e *env, arg string) {
	fmt.Fprintf(e.stdout, "%s: %s", arg, count(len(l.threads), "module", "modules"))
	largest, slowest := l.extremes()
	if largest != nil && len(l.threads) > 1 {
		fmt.Fprintf(e.stdout, "; the largest is %s, %s", largest.Module, count(largest.instructions(), "instruction", "instructions"))
	}
	if slowest != nil && len(l.threads) > 1 {
		by := ", by the times of its files"
		if slowest.fromDump {
			by = ""
		}
		fmt.Fprintf(e.stdout, "; the slowest to compile is %s, %s%s", slowest.Module, milliseconds(slowest.Seconds), by)
	}
	fmt.Fprintln(e.stdout)
	elided := 0
	for _, t := range l.threads {
		if t.elided() > 0 {
			elided++
		}
	}
	if elided > 0 {
		fmt.Fprintf(e.stdout, "%s without the values of some constants: dump with --xla_dump_hlo_as_proto or --xla_dump_large_constants to have them, or\n"+
			"give them as arguments of the program, from --inputs FILE.npz\n", count(elided, "module is", "modules are"))
	}
	if len(l.skipped) > 0 {
		total, list := 0, []string{}
		for _, x := range slices.Sorted(maps.Keys(l.skipped)) {
			total += l.skipped[x]
			list = append(list, fmt.Sprintf("%d %s", l.skipped[x], x))
		}
		fmt.Fprintf(e.stdout, "%s without a program: %s\n", count(total, "file", "files"), strings.Join(list, ", "))
	}
	for _, f := range l.failed {
		fmt.Fprintln(e.stderr, f)
	}
}

// records prints an object for each module and one for the argument.
func (c *lsCmd) records(e *env, arg string, l *listing, err error) error {
	r := &record{File: arg, OK: err == nil}
	if err != nil {
		r.Error = err.Error()
		return e.writeRecord(r)
	}
	for _, t := range c.sorted(l) {
		one := &record{File: t.Module, OK: true}
		one.add("versions", t.Versions)
		one.add("instructions", t.instructions())
		one.add("elided_constants", t.elided())
		if t.Seconds > 0 {
			one.add("compile_seconds", t.Seconds)
		}
		for _, v := range t.Versions {
			if v.Error != "" {
				one.OK, one.Error = false, v.Error
			}
		}
		if err := e.writeRecord(one); err != nil {
			return err
		}
	}
	r.add("modules", len(l.threads))
	r.add("skipped", l.skipped)
	if r.OK = len(l.failed) == 0; !r.OK {
		r.Error = strings.Join(l.failed, "\n")
	}
	largest, slowest := l.extremes()
	if largest != nil {
		r.add("largest", largest.Module)
	}
	if slowest != nil {
		r.add("slowest", slowest.Module)
	}
	return e.writeRecord(r)
}
