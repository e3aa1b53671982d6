package pass

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// combinators are the words of pipeline text that take passes in parentheses. Each reads its options into the pipeline, and returns what of the
// parentheses is passes.
var combinators = map[string]func(*textElement, *Pipeline) (*textPipeline, error){
	"fix":     readFix,
	"if":      readIf,
	"threads": readThreads,
}

// Combinators lists the words of pipeline text that are not passes.
func Combinators() []string { return slices.Sorted(maps.Keys(combinators)) }

func readFix(e *textElement, p *Pipeline) (*textPipeline, error) {
	p.Fix = true
	if err := e.options().Known("limit"); err != nil {
		return nil, err
	}
	var err error
	if p.Limit, err = e.options().Int("limit", 0); err != nil {
		return nil, fmt.Errorf("limit: %w", err)
	}
	return e.Body, nil
}

func readIf(e *textElement, p *Pipeline) (*textPipeline, error) {
	if err := e.options().Known(); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(conditions))
	if len(e.Body.Elements) == 0 {
		return nil, fmt.Errorf("begins with a condition: %s", strings.Join(names, ", "))
	}
	first := e.Body.Elements[0]
	p.If = first.Name
	if _, ok := conditions[strings.TrimPrefix(p.If, negation)]; !ok || first.Options != nil || first.Body != nil {
		return nil, fmt.Errorf("%q is no condition: want %s, or %s… for the contrary", first.Name, strings.Join(names, ", "), negation)
	}
	return &textPipeline{Elements: e.Body.Elements[1:]}, nil
}

func readThreads(e *textElement, p *Pipeline) (*textPipeline, error) {
	if err := e.options().Known("only"); err != nil {
		return nil, err
	}
	for _, o := range e.options() {
		if o.Value != "" {
			p.Threads = append(p.Threads, o.Value)
		}
		p.Threads = append(p.Threads, o.List...)
	}
	if len(p.Threads) == 0 {
		return nil, fmt.Errorf("want {only=NAME} or {only=[NAME,NAME]}")
	}
	return e.Body, nil
}

// holdable refuses passes that work on whole modules where passes are held to threads.
func (p *Pipeline) holdable() error {
	if p.Threads == nil {
		return nil
	}
	for _, in := range p.Passes() {
		if in.Local == nil {
			return fmt.Errorf("%s works on whole modules and cannot be held to a thread", in.Name)
		}
	}
	return nil
}

// setOptions gives options to a named pipeline.
func (p *Pipeline) setOptions(o Options) error {
	if len(o) == 0 {
		return nil
	}
	if err := o.Known("fp"); err != nil {
		return err
	}
	p.Options = o
	fp, err := ParseFP(o[len(o)-1].Value)
	if err != nil {
		return fmt.Errorf("fp=%w", err)
	}
	p.FP = &fp
	return nil
}
