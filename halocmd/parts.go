package halocmd

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/hlo/stablehlo/bundle"
)

// An argument may name a part of a file: dump.zip/module_0001.txt is a member of an archive, all.hlo#2 the second module of a text.

// within finds the file that an argument names a part of. What names none is a file that is not there, which is reported when it is read.
func within(arg string) place {
	if file, n, ok := cutLast(arg, "#"); ok && isNumber(n) && isFile(file) {
		return place{name: file, rel: filepath.Base(file), member: n}
	}
	for dir := filepath.Dir(arg); dir != "." && dir != string(filepath.Separator); dir = filepath.Dir(dir) {
		if isFile(dir) {
			return place{name: dir, rel: filepath.Base(dir), member: filepath.ToSlash(strings.TrimPrefix(arg[len(dir):], string(filepath.Separator)))}
		}
	}
	return place{name: arg, rel: filepath.Base(arg)}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// eachPart calls visit with each program of a file: with those of an archive, and with each module of a text of several, unless the
// command takes such texts as they are. It reports false, and calls nothing, if the file is one program.
func (e *env) eachPart(in *input, visit func(*input)) (bool, error) {
	if in.kind.IsArchive() && !e.archives {
		if in.inArchive {
			return true, fmt.Errorf("%s: error: an archive in an archive is not read: unpack it first", in.name)
		}
		return true, e.eachMember(in, visit)
	}
	if e.manyModules && in.kind == source.HLOText && in.member == "" {
		return false, nil
	}
	parts := source.Parts(in.kind, in.data)
	if len(parts) < 2 && in.member == "" {
		return false, nil
	}
	ext := filepath.Ext(in.rel)
	found := false
	for i, p := range parts {
		number := strconv.Itoa(i + 1)
		if in.member != "" && in.member != number {
			continue
		}
		part := *in
		part.rel, part.part, part.member = strings.TrimSuffix(in.rel, ext)+"."+number+ext, number, ""
		part.data, part.linesBefore, part.mapped = []byte(p.Text), in.linesBefore+p.LinesBefore, false
		visit(&part)
		found = true
	}
	if !found {
		return true, fmt.Errorf("%s: error: there is no module %s: there are %d", in.name, in.member, len(parts))
	}
	return true, nil
}

// isMemberProgram reports whether a file of an archive holds a program. Archives in archives are not looked into: some hold themselves.
func isMemberProgram(m source.Member) bool {
	kind, _ := source.Recognise(m.Data)
	return !kind.IsArchive() && holdsProgram(m.Name, m.Data)
}

// eachMember calls visit with the programs of an archive.
func (e *env) eachMember(in *input, visit func(*input)) error {
	var others []string
	members, found := 0, false
	err := source.Members(in.kind, in.data, inputLimit(), func(m source.Member) bool {
		members++
		name, number := in.member, ""
		if file, n, ok := cutLast(name, "#"); ok && isNumber(n) && file == m.Name {
			name, number = file, n
		}
		switch {
		case name != "" && name != m.Name:
			return true
		case m.Err != nil:
			fmt.Fprintf(e.stderr, "%s/%s: note: skipped: %v\n", in.name, m.Name, m.Err)
			return true
		case name == "" && !isMemberProgram(m):
			others = append(others, m.Name)
			return true
		}
		found = true
		visit(e.inputOf(place{name: in.name + "/" + m.Name, rel: filepath.FromSlash(path.Clean("/" + m.Name))[1:], member: number, inArchive: true}, m.Data, false))
		return true
	})
	switch {
	case err != nil:
		return fmt.Errorf("%s: error: %w", in.name, err)
	case !found && in.member != "":
		return fmt.Errorf("%s: error: there is no %s in this archive", in.name, in.member)
	case !found:
		return fmt.Errorf("%s: error: no programs in this archive: %s, and none begins as a program does", in.name, count(members, "file", "files"))
	}
	e.noteSkipped(in.name, others)
	for _, name := range others {
		if bundle.IsDescription(name) {
			fmt.Fprintf(e.stderr, "%s: note: %s describes the arguments of a program: unpack the archive, and halo finds them\n", in.name, name)
		}
	}
	return nil
}
