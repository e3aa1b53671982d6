package algsimp

import (
	"embed"
	"sync"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
)

//go:embed *.rules
var ruleFiles embed.FS

// Text lists the rules that are text, by file.
var Text = sync.OnceValue(func() map[string][]*rules.Rule {
	files := map[string][]*rules.Rule{}
	for _, name := range []string{"arithmetic.rules", "minmax.rules", "logic.rules", "movement.rules"} {
		text, err := ruleFiles.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		files[name] = rules.Must(name, string(text))
	}
	return files
})

// written are the rules of a file.
func written(name string) (all []*pass.RewriteRule) {
	for _, r := range Text()[name] {
		all = append(all, r.RewriteRule)
	}
	return all
}
