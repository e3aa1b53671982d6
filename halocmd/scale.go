package halocmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// scale is what the collectives of a program take on many devices, by the model of docs/scale.md.
type scale struct {
	Devices     int64        `json:"devices"`
	Seconds     float64      `json:"seconds"` // one after the other
	Compute     float64      `json:"compute_seconds"`
	Collectives []scaledStep `json:"collectives"`
}

type scaledStep struct {
	Instruction string  `json:"instruction"`
	Opcode      string  `json:"opcode"`
	Group       int64   `json:"group"`
	Bytes       int64   `json:"bytes"`
	Rounds      int64   `json:"rounds"`
	Seconds     float64 `json:"seconds"` // all rounds
}

// link reads --link and --devices.
func (c *scheduleCmd) link() (analysis.Link, error) {
	switch {
	case c.Link == "" && c.Devices != 0:
		return analysis.Link{}, errors.New("--devices needs --link: what connects them")
	case c.Link == "":
		return analysis.Link{}, nil
	case c.Devices < 0:
		return analysis.Link{}, errors.New("--devices: want a positive number")
	}
	link, err := analysis.ParseLink(c.Link)
	if err != nil {
		return link, fmt.Errorf("--link: %w", err)
	}
	return link, nil
}

// scaleOf takes groups of a program for n devices to be as large a part of all devices as they are in the text.
func scaleOf(m hlo.Module, n int64, link analysis.Link) *scale {
	cfg := m.Config()
	own := max(cfg.ReplicaCount, 1) * max(cfg.NumPartitions, 1)
	if n == 0 {
		n = own
	}
	s := &scale{Devices: n, Collectives: []scaledStep{}}
	costs := analysis.FindCosts(m)
	for c, rounds := range analysis.Executions(m) {
		for in := range c.Instructions() {
			x, ok := analysis.ExchangeOf(in, own)
			if !ok {
				if k := costs.Of(in); in.Opcode() == hlo.OpFusion || !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) {
					s.Compute += k.Seconds(analysis.OneCore) * float64(rounds)
				}
				continue
			}
			if _, pairs := in.Attr("source_target_pairs"); !pairs {
				grown := max(1, x.Group*n/own)
				if x.Op == hlo.OpAllGather || x.Op == hlo.OpAllGatherStart {
					x.Bytes = x.Bytes / max(1, x.Group) * grown // as much from each
				}
				x.Group = grown
			}
			step := scaledStep{in.Name(), in.Opcode().String(), x.Group, x.Bytes, rounds, x.Seconds(link) * float64(rounds)}
			s.Seconds += step.Seconds
			s.Collectives = append(s.Collectives, step)
		}
	}
	slices.SortStableFunc(s.Collectives, func(a, b scaledStep) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return s
}

func (s *scale) print(out io.Writer) {
	fmt.Fprintf(out, "on %d devices: %.4g ms of communication, one after the other, and %.4g ms of computing on one core each\n", s.Devices, s.Seconds*1e3, s.Compute*1e3)
	for i, x := range s.Collectives {
		if i == 10 {
			fmt.Fprintf(out, "            and %d more\n", len(s.Collectives)-i)
			break
		}
		times := ""
		if x.Rounds > 1 {
			times = fmt.Sprintf(", %d times", x.Rounds)
		}
		fmt.Fprintf(out, "%10.4f ms  %%%s: %s among %d of %s%s\n", x.Seconds*1e3, x.Instruction, x.Opcode, x.Group, orNothing(x.Bytes), times)
	}
}
