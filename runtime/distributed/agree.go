package distributed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Identity is what all processes of a job have to have in common.
type Identity struct {
	Version  string // of halo
	Engine   string
	Module   string // its name
	Program  string // a hash of it, as it is executed
	Replicas int
	Devices  int
	Options  string // what else results depend on
}

// differences lists the fields in which two identities differ.
func (a Identity) differences(b Identity) (list []string) {
	note := func(what string, x, y any) {
		if x != y {
			list = append(list, fmt.Sprintf("%s %v, not %v", what, x, y))
		}
	}
	note("version", a.Version, b.Version)
	note("engine", a.Engine, b.Engine)
	note("module", a.Module, b.Module)
	note("number of devices", a.Devices, b.Devices)
	note("number of replicas", a.Replicas, b.Replicas)
	note("options", a.Options, b.Options)
	if len(list) == 0 && a.Program != b.Program {
		list = append(list, "another program: its text or its shapes differ")
	}
	return list
}

// agree checks that all processes have the same identity.
func (j *Job) agree(ctx context.Context, mine Identity) error {
	data, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	all, err := j.AllGather(ctx, "comparing programs", data)
	if err != nil {
		return err
	}
	ids := make([]Identity, j.size)
	for rank, data := range all {
		if err := json.Unmarshal(data, &ids[rank]); err != nil {
			return fmt.Errorf("rank %d runs something else than this program: %w", rank, err)
		}
	}
	var odd []string
	usual := usual(ids)
	for rank, id := range ids {
		if d := id.differences(usual); len(d) > 0 {
			odd = append(odd, fmt.Sprintf("rank %d has %s", rank, strings.Join(d, "; ")))
		}
	}
	if len(odd) == 0 {
		return nil
	}
	return fmt.Errorf("the processes run different programs: %s", strings.Join(odd, "; "))
}

// usual is the identity that most processes have, the first of those.
func usual(ids []Identity) Identity {
	counts := make(map[Identity]int)
	for _, id := range ids {
		counts[id]++
	}
	return slices.MaxFunc(ids, func(a, b Identity) int { return counts[a] - counts[b] })
}
