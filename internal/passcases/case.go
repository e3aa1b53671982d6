package passcases

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
)

// Case is a module with its checks.
type Case struct {
	Name string // of the file, and of the case in it
	Text string

	// Pipeline is what to run, "" if the case does not say.
	Pipeline string
	// Prefixes are what CHECK lines begin with, CHECK if there are none.
	Prefixes []string

	linesAhead int // in the file
}

// Expressions are made when they are first needed: most commands never are.
var (
	directive  = lazily(`(?m)^\s*// ([A-Z]+): *(.*?)\s*$`)
	runLine    = lazily(`(?m)^\s*// RUN:.*?--passes=['"]?([^\s'"|]+)`)
	prefixFlag = lazily(`(?m)^\s*// RUN:.*--check-prefix(?:es)?=(\S+)`)
)

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// Cases cuts a file into cases: the files of a txtar archive, or the modules of a text. What the first module says about passes holds for those
// that say nothing; in an archive it is the name of its folder, if parse knows that.
func Cases(file string, data []byte, parse func(string) (*pass.Pipeline, error)) (cases []Case) {
	archive := strings.HasSuffix(file, ".txtar")
	if archive {
		folder := folderOf(file)
		if _, err := parse(folder); err != nil {
			folder = ""
		}
		for _, f := range txtar.Parse(data).Files {
			cases = append(cases, Case{Name: file + ":" + f.Name, Text: string(f.Data), Pipeline: folder})
		}
	} else {
		for i, p := range parser.Split(string(data)) {
			name := file
			if i > 0 {
				name = fmt.Sprintf("%s:%d", file, p.LinesBefore+1)
			}
			cases = append(cases, Case{Name: name, Text: p.Text, linesAhead: p.LinesBefore})
		}
	}
	for i := range cases {
		c := &cases[i]
		if i > 0 && !archive {
			c.Pipeline, c.Prefixes = cases[0].Pipeline, cases[0].Prefixes
		}
		if found := runLine().FindStringSubmatch(c.Text); found != nil {
			c.Pipeline = found[1]
		}
		if p, ok := c.says("PASS"); ok && p != "" {
			c.Pipeline = p
		}
		if found := prefixFlag().FindStringSubmatch(c.Text); found != nil {
			c.Prefixes = strings.Split(found[1], ",")
		}
	}
	return cases
}

// folderOf is the name of the folder that a file is in, wherever the process is.
func folderOf(file string) string {
	if full, err := filepath.Abs(file); err == nil {
		file = full
	}
	return filepath.Base(filepath.Dir(file))
}

// says is the value of the last line // WORD: value of a case.
func (c *Case) says(word string) (value string, ok bool) {
	for _, m := range directive().FindAllStringSubmatch(c.Text, -1) {
		if m[1] == word {
			value, ok = m[2], true
		}
	}
	return value, ok
}
