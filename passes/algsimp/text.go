package algsimp

import (
	"embed"
	"sync"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
)

//go:embed *.rules
var ruleFiles embed.FS

// textFiles are the files of rules.
var textFiles = []string{"arithmetic.rules", "minmax.rules", "logic.rules", "movement.rules"}

// Text lists the rules that are text, by file.
func Text() map[string][]*rules.Rule {
	files := map[string][]*rules.Rule{}
	for _, name := range textFiles {
		files[name] = rules.Must(name, ruleText(name))
	}
	return files
}

func ruleText(name string) string {
	text, err := ruleFiles.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

var lateRules = sync.OnceValue(func() map[string][]*pass.RewriteRule {
	files := map[string][]*pass.RewriteRule{}
	for _, name := range textFiles {
		files[name] = rules.Late(name, ruleText(name))
	}
	return files
})

// written are the rules of a file, each of which is read when it is needed.
func written(name string) []*pass.RewriteRule { return lateRules()[name] }
