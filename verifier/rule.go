package verifier

import (
	"slices"
	"strings"
)

// Rule is a row of the rule table.
type Rule struct {
	ID string
	// The rule, in a sentence.
	What string
	// Option is the option without which the rule is not checked, or several with spaces between them; "" when it always is.
	Option string
	// InDoc says that profile doc checks the rule without its option, too.
	InDoc bool
	// Kind says who keeps the rule.
	Kind Kind
	// As is the rule that reports what breaks this one; "" when it has findings of its own.
	As string
	// Severity is that of its findings.
	Severity Severity
}

// Kind says who keeps a rule, and so how it can be broken.
type Kind uint8

// The kinds.
const (
	// Checked rules are checked by this package.
	Checked Kind = iota
	// ByReader: text can break the rule, and package hlo/parser refuses it with the rule's id.
	ByReader
	// ByDecoder: a serialized module can break the rule, and package hlo/proto refuses it with the rule's id.
	ByDecoder
	// ByConstruction: nothing can break the rule, since package hlo has no way to say it.
	ByConstruction
	// Covered rules follow from another rule, which always reports first: As.
	Covered
	// Permission rules say what is legal, so that it is not taken for a fault.
	Permission
	// Definition rules define a word of other rules.
	Definition
)

func (k Kind) String() string {
	return [...]string{"checked", "by the reader of text", "by the reader of serialized modules", "by construction", "covered", "permission", "definition"}[k]
}

// Rules returns the rule table, by group and number; the caller owns the slice.
func Rules() []Rule { return slices.Clone(rules) }

// RuleByID finds a row.
func RuleByID(id string) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// Level is a set of groups of rules, for those who want to look at one concern.
type Level uint8

// The levels. The zero Level means all.
const (
	LevelStructure Level = 1 << iota // modules, graphs and names
	LevelShape                       // ops: operands, attributes, shapes, shardings, the entry layout
	LevelLayout                      // layouts and memory spaces
	LevelSchedule                    // schedules and deadlocks
	LevelAsync                       // chains, pairs, channels
	LevelAlias                       // aliases, donors, buffers

	allLevels = LevelStructure | LevelShape | LevelLayout | LevelSchedule | LevelAsync | LevelAlias
)

// levelNames are the levels in the order of their bits.
var levelNames = []string{"structure", "shape", "layout", "schedule", "async", "alias"}

func (l Level) String() string {
	var names []string
	for i, name := range levelNames {
		if l == 0 || l&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// levelOfGroup is the level of the rules whose ids begin so; those not named are about shapes.
var levelOfGroup = map[string]Level{
	"MOD": LevelStructure, "STR": LevelStructure, "NAME": LevelStructure,
	"LAY": LevelLayout, "MEM": LevelLayout,
	"SCH": LevelSchedule, "DEAD": LevelSchedule,
	"ASYNC": LevelAsync, "PAIR": LevelAsync, "CHAN": LevelAsync,
	"ALI": LevelAlias, "DON": LevelAlias, "BUF": LevelAlias,
}

// levelOfRule has the rules that are of another level than their group.
var levelOfRule = map[string]Level{
	"HALO-RECURSION": LevelStructure, "HALO-PARAMETERS": LevelStructure, "GEN-04": LevelLayout, "GEN-08": LevelLayout, "SHP-09": LevelLayout,
	"SHP-12": LevelLayout, "SHP-13": LevelLayout, "MISC-01": LevelLayout, "CC-01": LevelLayout, "FUS-10": LevelAlias, "CC-02": LevelAlias,
	"CC-03": LevelAlias, "ENT-05": LevelAlias, "HALO-DEADLOCK": LevelSchedule, "HALO-TRANSFER": LevelAsync,
}

// Level is the level that the rule belongs to.
func (r Rule) Level() Level { return levelOf(r.ID) }

func levelOf(id string) Level {
	if l, ok := levelOfRule[id]; ok {
		return l
	}
	group, _, _ := strings.Cut(id, "-")
	if l, ok := levelOfGroup[group]; ok {
		return l
	}
	return LevelShape
}
