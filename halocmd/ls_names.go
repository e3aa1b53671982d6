package halocmd

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo/source"
)

// role is which version of a module a file of a dump holds.
type role string

// The roles, as --json spells them.
const (
	roleProgram   role = "program" // a file of its own, or a version that the name does not explain
	roleBefore    role = "before"
	roleAfter     role = "after"
	rolePass      role = "pass"
	roleSnapshot  role = "snapshot"
	roleStableHLO role = "stablehlo" // as the compiler got it from JAX
	roleMetadata  role = "metadata"  // times, among other things
)

// inOrder is the order in which the versions of a module come to be.
var inOrder = []role{roleStableHLO, roleBefore, rolePass, roleAfter, roleSnapshot, roleProgram}

// dumpNames are how XLA names the files of a dump: module_0007.jit_f.VERSION, perhaps with a time or the number of a process before it.
type dumpNames struct {
	module   *regexp.Regexp
	versions []dumpVersion
}

type dumpVersion struct {
	name *regexp.Regexp
	role role
}

// xlaNames are compiled when they are needed: every command starts with what a package makes at once.
var xlaNames = sync.OnceValue(func() *dumpNames {
	const module = `^((?:.*\.)?module_\d+\..+?)`
	return &dumpNames{
		regexp.MustCompile(`^(?:.*\.)?module_\d+\.`),
		[]dumpVersion{
			{regexp.MustCompile(module + `\.before_optimizations$`), roleBefore},
			{regexp.MustCompile(module + `\.(?:sm_\d+\.\d+_)?(?:[a-z0-9]+_)?after_optimizations$`), roleAfter},
			{regexp.MustCompile(module + `\.(\d{4,}\..+)$`), rolePass},
			{regexp.MustCompile(module + `\.(?:execution_\d+\.hlo_unoptimized_snapshot|snapshot\.-?\d+)$`), roleSnapshot},
			{regexp.MustCompile(module + `\.module_metadata$`), roleMetadata},
		},
	}
})

// isDumped reports whether a file has a name that XLA gives to files of a dump.
func isDumped(file string) bool {
	return xlaNames().module.MatchString(path.Base(filepath.ToSlash(file)))
}

// roleOf finds which module a file is a version of, and which. The pass, where it is one, is "0007.pipeline.after_x.before_y".
func roleOf(file string) (module string, r role, pass string) {
	dir, base := path.Split(file)
	if parent := path.Base(path.Clean(dir)); base == "module.mlir" && xlaNames().module.MatchString(parent) {
		return path.Clean(dir), roleStableHLO, ""
	}
	stem := base
	for cut := true; cut; {
		stem, cut = cutExtension(source.CutPacked(stem))
	}
	for _, v := range xlaNames().versions {
		if m := v.name.FindStringSubmatch(stem); m != nil {
			if v.role == rolePass {
				pass = m[2]
			}
			return dir + m[1], v.role, pass
		}
	}
	return dir + stem, roleProgram, ""
}

func cutExtension(name string) (string, bool) {
	for _, x := range []string{".txt", ".pb", ".hlo", ".textproto", ".mlir", ".mlirbc", ".bytecode", ".html", ".dot"} {
		if s, ok := strings.CutSuffix(name, x); ok && s != "" {
			return s, true
		}
	}
	return name, false
}
