package halocmd

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/source"
)

// listing is what a directory, an archive or a file holds.
type listing struct {
	threads []*thread
	by      map[string]*thread
	skipped map[string]int // files that hold no program, by extension
	failed  []string       // what cannot be read, with the reason
	times   bool           // the files have their own times: they are not from an archive
}

// thread is a module with all of its versions.
type thread struct {
	Module   string    `json:"module"`
	Versions []*dumped `json:"versions"`
	// Seconds that compiling took: by the dump's metadata, or else from the first to the last file that was written.
	Seconds     float64 `json:"compile_seconds,omitempty"`
	fromDump    bool
	first, last time.Time
}

// dumped is one file of a thread.
type dumped struct {
	File   string `json:"file"`
	Role   role   `json:"role"`
	Pass   string `json:"pass,omitempty"`
	Bytes  int64  `json:"bytes"`
	*about `json:",omitempty"`
	Error  string `json:"error,omitempty"`
}

// about is what a look into a version finds.
type about struct {
	Instructions   int   `json:"instructions"`
	Computations   int   `json:"computations"`
	ParameterBytes int64 `json:"parameter_bytes"`
	ConstantBytes  int64 `json:"constant_bytes"`
	Elided         int   `json:"elided_constants,omitempty"`
}

// found is a file that a listing comes upon.
type found struct {
	name  string // in the directory or archive, with slashes
	bytes int64
	time  time.Time
	head  []byte // what tells metadata, for files that are no programs
	read  func() ([]*input, error)
}

// list looks through what an argument names.
func (c *lsCmd) list(e *env, arg string) (*listing, error) {
	l := &listing{by: map[string]*thread{}, skipped: map[string]int{}, times: true}
	info, err := os.Stat(arg)
	if err != nil || !info.IsDir() || isSaved(arg) {
		return l, c.listFile(e, l, arg)
	}
	err = filepath.WalkDir(arg, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(arg, file)
		if err != nil {
			return err
		}
		f := found{name: filepath.ToSlash(rel)}
		if info, err := d.Info(); err == nil {
			f.bytes, f.time = info.Size(), info.ModTime()
		}
		if !isProgram(file) {
			if _, r, _ := roleOf(f.name); r == roleMetadata {
				f.head, _ = readFile(file, 1<<20)
			}
			l.skip(f)
			return nil
		}
		f.read = func() ([]*input, error) { return e.inputs(place{name: file, rel: rel}) }
		c.add(l, f)
		return nil
	})
	l.finish()
	return l, err
}

// listFile lists one file, an archive for example.
func (c *lsCmd) listFile(e *env, l *listing, arg string) error {
	places, err := e.expand([]string{arg})
	if err != nil {
		return err
	}
	for _, p := range places {
		in, err := e.read(p)
		if err != nil {
			return err
		}
		if !in.kind.IsArchive() {
			c.add(l, found{name: p.rel, bytes: int64(len(in.data)), read: func() ([]*input, error) { return e.split(in) }})
			continue
		}
		l.times = false
		err = source.Members(in.kind, in.data, inputLimit(), func(m source.Member) bool {
			f := found{name: m.Name, bytes: int64(len(m.Data)), read: func() ([]*input, error) {
				if m.Err != nil {
					return nil, m.Err
				}
				return e.split(e.inputOf(place{name: arg + "/" + m.Name, rel: m.Name}, m.Data, false))
			}}
			if m.Err == nil && !isMemberProgram(m) {
				if f.head = m.Data; len(f.head) > 1<<20 {
					f.head = nil
				}
				l.skip(f)
				return true
			}
			c.add(l, f)
			return true
		})
		if err != nil {
			return err
		}
	}
	l.finish()
	return nil
}

// inputs reads the modules of a file.
func (e *env) inputs(p place) ([]*input, error) {
	in, err := e.read(p)
	if err != nil {
		return nil, err
	}
	return e.split(in)
}

// split is the modules of what has been read.
func (e *env) split(in *input) (all []*input, err error) {
	hasParts, err := e.eachPart(in, func(part *input) { all = append(all, part) })
	if !hasParts {
		all = []*input{in}
	}
	return all, err
}

// thread is the thread of a module, a new one if there is none.
func (l *listing) thread(module string) *thread {
	t := l.by[module]
	if t == nil {
		t = &thread{Module: module}
		l.by[module] = t
		l.threads = append(l.threads, t)
	}
	return t
}

// timestamps are in the metadata that XLA dumps with --xla_dump_module_metadata, once for each pass.
var timestamps = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(start|end)_timestamp_usec: *(\d+)`) })

// skip counts a file without a program, and finds in it what it says about a module.
func (l *listing) skip(f found) {
	module, r, _ := roleOf(f.name)
	if r != roleMetadata {
		name := path.Base(f.name)
		l.skipped[cmp.Or(path.Ext(source.CutPacked(name)), name)]++
		l.touch(f)
		return
	}
	var begin, end int64
	for _, m := range timestamps().FindAllSubmatch(f.head, -1) {
		us, err := strconv.ParseInt(string(m[2]), 10, 64)
		switch {
		case err != nil:
		case string(m[1]) == "end":
			end = max(end, us)
		case begin == 0 || us < begin:
			begin = us
		}
	}
	if t := l.thread(module); begin > 0 && end > begin {
		t.Seconds, t.fromDump = float64(end-begin)/1e6, true
	}
}

// touch notes when a file of a module was written, be it a program or not.
func (l *listing) touch(f found) {
	if f.time.IsZero() {
		return
	}
	dir, base := path.Split(f.name)
	if !xlaNames().module.MatchString(base) || strings.Contains(base, ".execution_") || strings.Contains(base, ".snapshot.") { // of a run, not of compiling
		return
	}
	for name := dir + base; name != ""; { // the module may have dots in its name, and so may what follows
		if t := l.by[name]; t != nil {
			t.first, t.last = earliest(t.first, f.time), latest(t.last, f.time)
			return
		}
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			return
		}
		name = name[:i]
	}
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// add puts a program into its thread. Passes are not looked into unless they are to be listed: a dump may have thousands.
func (c *lsCmd) add(l *listing, f found) {
	module, r, pass := roleOf(f.name)
	if r == rolePass && !c.Long {
		l.thread(module).Versions = append(l.thread(module).Versions, &dumped{File: f.name, Role: r, Pass: pass, Bytes: f.bytes})
		l.touch(f)
		return
	}
	inputs, err := f.read()
	for _, in := range inputs {
		v, own := &dumped{File: f.name, Role: r, Pass: pass, Bytes: f.bytes}, module
		if in.part != "" {
			own, v.File, v.Bytes = module+"#"+in.part, f.name+"#"+in.part, int64(len(in.data))
		}
		t := l.thread(own)
		t.Versions = append(t.Versions, v)
		if in.kind == source.HostProgram || in.kind == source.BEF {
			continue // they are listed, not looked into
		}
		m, err := parseModule(in)
		if err != nil {
			v.Error = describe(err, in)
			l.failed = append(l.failed, v.Error)
			continue
		}
		v.about = look(m)
	}
	if err != nil {
		l.failed = append(l.failed, f.name+": "+err.Error())
		return
	}
	l.touch(f)
}

func look(m hlo.Module) *about {
	a := &about{Instructions: m.NumInstructions(), Computations: m.NumComputations()}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if l := in.Literal(); l != nil && in.Shape().IsArray() {
				a.ConstantBytes += in.Shape().ByteSize()
				if l.IsElided() {
					a.Elided++
				}
			}
		}
	}
	for i := range m.Entry().NumParameters() {
		for _, leaf := range m.Entry().Parameter(i).Shape().Leaves {
			if leaf.IsArray() {
				a.ParameterBytes += leaf.ByteSize()
			}
		}
	}
	return a
}

// finish computes what follows from all files.
func (l *listing) finish() {
	for _, t := range l.threads {
		if took := t.last.Sub(t.first); !t.fromDump && l.times && t.version(roleBefore) != nil && t.version(roleAfter) != nil && took >= time.Millisecond {
			t.Seconds = took.Seconds()
		}
		slices.SortStableFunc(t.Versions, func(a, b *dumped) int {
			return cmp.Or(cmp.Compare(slices.Index(inOrder, a.Role), slices.Index(inOrder, b.Role)), strings.Compare(a.Pass, b.Pass))
		})
	}
	slices.SortStableFunc(l.threads, func(a, b *thread) int { return strings.Compare(a.Module, b.Module) })
}

// version is the first version with a role that could be read, nil if there is none.
func (t *thread) version(r role) *dumped {
	for _, v := range t.Versions {
		if v.Role == r && v.about != nil {
			return v
		}
	}
	return nil
}

// count is how many files of a role there are.
func (t *thread) count(r role) (n int) {
	for _, v := range t.Versions {
		if v.Role == r {
			n++
		}
	}
	return n
}
