package algsimp

import (
	_ "embed"
	"sync"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
)

//go:embed arithmetic.rules
var arithmetic string

//go:embed minmax.rules
var minmax string

//go:embed logic.rules
var logic string

//go:embed movement.rules
var movement string

// texts are the files of rules.
var texts = []struct{ name, text string }{{"arithmetic.rules", arithmetic}, {"minmax.rules", minmax}, {"logic.rules", logic}, {"movement.rules", movement}}

// Text lists the rules that are text, by file.
func Text() map[string][]*rules.Rule {
	files := map[string][]*rules.Rule{}
	for _, f := range texts {
		files[f.name] = rules.Must(f.name, f.text)
	}
	return files
}

var lateRules = sync.OnceValue(func() map[string][]*pass.RewriteRule {
	files := map[string][]*pass.RewriteRule{}
	for _, f := range texts {
		files[f.name] = rules.Late(f.name, f.text)
	}
	return files
})

// written are the rules of a file, each of which is read when it is needed.
func written(name string) []*pass.RewriteRule { return lateRules()[name] }
