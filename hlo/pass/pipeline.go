package pass

// Pipeline is a sequence of passes and pipelines.
type Pipeline struct {
	Name  string // "" for a group in parentheses
	Steps []Step
	// Fix repeats the steps until the module stops changing, at most Limit times (0: defaultLimit).
	Fix   bool
	Limit int
	// If names a condition of the module without which the steps are left out; see conditions.
	If string
	// Threads holds the steps to computations of these threads, nil to none. Only passes of the local form can be held.
	Threads []string
	// FP is the policy inside, nil for that of the run.
	FP *FP
	// Options are those of a named pipeline as written: {fp=xla}.
	Options Options
}

// defaultLimit is XLA's limit of repetitions.
const defaultLimit = 25

// Step is a pass or a pipeline.
type Step struct {
	Pass     *Pass
	Pipeline *Pipeline
}

// Of makes a pipeline of passes.
func Of(name string, passes ...*Pass) *Pipeline {
	p := &Pipeline{Name: name}
	for _, s := range passes {
		p.Steps = append(p.Steps, Step{Pass: s})
	}
	return p
}

// Fixpoint makes a pipeline that repeats the passes until nothing changes.
func Fixpoint(name string, passes ...*Pass) *Pipeline {
	p := Of(name, passes...)
	p.Fix = true
	return p
}

// Then appends a pipeline to p and returns p.
func (p *Pipeline) Then(q *Pipeline) *Pipeline {
	p.Steps = append(p.Steps, Step{Pipeline: q})
	return p
}

// Passes lists the passes of p in the order they run, those of a repeated part once.
func (p *Pipeline) Passes() (all []*Pass) {
	for _, s := range p.Steps {
		if s.Pass != nil {
			all = append(all, s.Pass)
		} else {
			all = append(all, s.Pipeline.Passes()...)
		}
	}
	return all
}
