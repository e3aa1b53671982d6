package printer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var (
	bodiesNames = []string{BodyNames: "names", BodyNone: "none", BodyFull: "full", BodyNonSequential: "non-sequential"}
	groupsNames = []string{GroupsAsGiven: "as-given", GroupsListed: "listed", GroupsWithoutSub: "without-sub-axes"}
)

// BodiesNames lists the names of the forms of called computations.
func BodiesNames() []string { return slices.Clone(bodiesNames) }

// GroupsNames lists the names of the styles of replica groups.
func GroupsNames() []string { return slices.Clone(groupsNames) }

// UnmarshalText reads a name of [BodiesNames].
func (b *Bodies) UnmarshalText(text []byte) error {
	i, err := named(bodiesNames, text)
	*b = Bodies(i)
	return err
}

// UnmarshalText reads a name of [GroupsNames].
func (g *GroupsStyle) UnmarshalText(text []byte) error {
	i, err := named(groupsNames, text)
	*g = GroupsStyle(i)
	return err
}

// UnmarshalText reads a distance in XLA's terms: 0 for no marks.
func (e *IndexEvery) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return fmt.Errorf("%q: want a number of operands, or 0", text)
	}
	*e = IndexEvery(n)
	if n == 0 {
		*e = NoIndex
	}
	return nil
}

func named(names []string, text []byte) (int, error) {
	i := slices.Index(names, string(text))
	if i < 0 {
		return 0, fmt.Errorf("%q: want %s", text, strings.Join(names, ", "))
	}
	return i, nil
}
