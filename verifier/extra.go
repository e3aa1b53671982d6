package verifier

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Extra is a rule that a program adds to the table, and what checks it. It belongs to the level of its id, as the table's rules do: ids that
// begin with LAY-, SCH-, ASYNC- and so on to those, others to shapes.
type Extra struct {
	Rule
	// Check reports each instruction that breaks the rule. It is called on modules whose structure is sound.
	Check func(m hlo.Module, report Report)
}

// Report records that an instruction breaks a rule, for a reason.
type Report func(in hlo.Instruction, format string, args ...any)

// extra checks the rules that are not in the table.
func (r *run) extra() {
	for _, x := range r.cfg.Extra {
		x.Check(r.m, func(in hlo.Instruction, format string, args ...any) {
			if x.Severity == SeverityWarning {
				r.warn(in, x.ID, format, args...)
			} else {
				r.report(in, x.ID, format, args...)
			}
		})
	}
}

// CheckExtra finds what is wrong with rules that are to be added: ids that are missing or taken, and rules without a sentence or a check.
func CheckExtra(rules []Extra) error {
	seen := map[string]bool{}
	for _, x := range rules {
		_, taken := RuleByID(x.ID)
		switch {
		case x.ID == "" || x.What == "" || x.Check == nil:
			return fmt.Errorf("verifier: rule %q: want an id, a sentence and a check", x.ID)
		case taken || seen[x.ID]:
			return fmt.Errorf("verifier: there is a rule %s already", x.ID)
		}
		seen[x.ID] = true
	}
	return nil
}
