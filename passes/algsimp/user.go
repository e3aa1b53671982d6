package algsimp

import (
	"fmt"
	"os"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
)

const userDoc = `apply user-defined rules until none matches

The rules are text, in a file: rules{file="mine.rules"}. halo check mine.rules proves them first. Like those of algsimp they fire only as
far as fp allows, and leave alone what has control dependencies, and values of dynamic size whose size they would lose.`

// NewRules makes the pass that applies a file of rules.
func NewRules(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("file", "fp", "layouts", "once"); err != nil {
		return nil, err
	}
	r := &pass.Rewriter{}
	var err error
	for _, opt := range o {
		switch opt.Key {
		case "file":
			text, err := os.ReadFile(opt.Value)
			if err != nil {
				return nil, err
			}
			list, err := rules.Parse(opt.Value, string(text))
			if err != nil {
				return nil, fmt.Errorf("\n%w", err)
			}
			for _, rule := range list {
				r.Rules = append(r.Rules, rule.RewriteRule)
			}
		case "fp":
			if err := allow(r, opt.Value); err != nil {
				return nil, fmt.Errorf("fp=%w", err)
			}
		}
	}
	if r.Layouts, err = o.Bool("layouts"); err != nil {
		return nil, err
	}
	if r.Once, err = o.Bool("once"); err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "rules", Doc: userDoc, Options: o, Rewrites: r.Document, Local: r.Local, Lent: true, Params: []pass.Param{
		{Name: "file", Doc: "the file of rules"},
		{Name: "fp", Doc: "what rules may change in floating-point results, whatever the policy of the run: strict, xla or fast"},
		{Name: "layouts", Doc: "layouts are final: what stands for an instruction has its layout"},
		{Name: "once", Doc: "look at each instruction once"},
	}}, nil
}
