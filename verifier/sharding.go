package verifier

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Shardings (verifier 5.14).

// sharded is a sharding and the shape of what it is of. Both are shared by instructions that are written alike.
type sharded struct {
	s     *hlo.Sharding
	shape hlo.Shape
}

func (r *run) sharding(in hlo.Instruction, s *hlo.Sharding) {
	key := sharded{s, in.Shape()}
	if r.goodSharding[key] {
		return
	}
	if rule, msg := r.shardingFault(s, in.Shape()); rule != "" {
		r.report(in, rule, "Invalid sharding for instruction %%%s: %s", in.Name(), msg)
		return
	}
	if r.goodSharding == nil {
		r.goodSharding = make(map[sharded]bool)
	}
	r.goodSharding[key] = true
}

// shardingFault is what is wrong with sharding s of a value of the given shape; "" when nothing is.
func (r *run) shardingFault(s *hlo.Sharding, shape hlo.Shape) (rule, msg string) {
	if shape.IsToken() {
		return "", ""
	}
	if s.Kind != hlo.ShardingTuple {
		if shape.IsTuple() {
			return "SHD-01", "The validation shape is a tuple but sharding is not"
		}
		return r.leafFault(s, shape)
	}
	if !shape.IsTuple() {
		return "SHD-01", "Sharding is tuple-shaped but validation shape is not"
	}
	leaves := shape.NumLeaves()
	if n := len(s.Elements); n != leaves && !(leaves == 0 && n == 1) {
		return "SHD-02", fmt.Sprintf("Validation shape has %d leaf nodes while this sharding has %d", leaves, n)
	}
	i := 0
	for _, leaf := range shape.Leaves {
		rule, msg = r.leafFault(s.Elements[i], leaf)
		i++
		if rule != "" {
			break
		}
	}
	return rule, msg
}

// deviceLimit is the number of devices that shardings may name; 0 when they may name any.
func (r *run) deviceLimit() int64 {
	c := r.m.Config()
	if r.cfg.SkipShardingDeviceNumbers || !c.UseSPMD || c.NumPartitions <= 1 {
		return 0
	}
	return c.NumPartitions
}

func (r *run) leafFault(s *hlo.Sharding, shape hlo.Shape) (rule, msg string) {
	if shape.IsToken() || s == nil {
		return "", ""
	}
	limit := r.deviceLimit()
	switch s.Kind {
	case hlo.ShardingMaximal:
		if len(s.Devices) != 1 {
			return "SHD-04", "a maximal sharding has exactly one device"
		}
		return deviceFault("SHD-04", s.Devices[0], limit)
	case hlo.ShardingTiled:
		return r.tileFault(s, shape, limit)
	case hlo.ShardingNamed:
		if n := s.Named; n != nil && n.Mesh != nil && limit > 0 && !n.Mesh.Maximal {
			total := int64(1)
			for _, a := range n.Mesh.Axes {
				total *= max(a.Size, 1)
			}
			if total != limit && len(n.Mesh.Axes) > 0 {
				return "SHD-08", fmt.Sprintf("sharding should have %d devices but has %d", limit, total)
			}
		}
	}
	return "", ""
}

func deviceFault(rule string, id, limit int64) (string, string) {
	switch {
	case id < 0:
		return rule, fmt.Sprintf("device %d is negative in tile assignment", id)
	case limit > 0 && id >= limit:
		return rule, fmt.Sprintf("device %d >= num_devices (%d) in tile assignment", id, limit)
	}
	return "", ""
}

func (r *run) tileFault(s *hlo.Sharding, shape hlo.Shape, limit int64) (rule, msg string) {
	total := int64(1)
	for _, n := range s.TileDims {
		total *= max(n, 1)
	}
	dims := len(s.TileDims) - len(s.Subgroups)
	if s.ReplicateOnLastTileDim {
		dims--
	}
	switch {
	case total == 1 && len(s.TileDims) > 0 && s.Iota == nil && len(s.Devices) == 1:
		return "SHD-05", "Tile assignment only contains a single device"
	case !shape.IsArray() || dims != shape.Rank():
		return "SHD-06", fmt.Sprintf("Number of tile assignment dimensions (excluding subgroups) is different than the input rank: %d for %s", dims, shapeText(shape, false))
	}
	if s.Iota == nil {
		seen := make(map[int64]bool, len(s.Devices))
		for _, id := range s.Devices {
			if rule, msg := deviceFault("SHD-07", id, limit); rule != "" {
				return rule, msg
			}
			if seen[id] {
				return "SHD-07", fmt.Sprintf("device %d is not unique in tile assignment", id)
			}
			seen[id] = true
		}
	}
	if limit > 0 && total != limit {
		return "SHD-08", fmt.Sprintf("tile_assignment should have %d devices but has %d", limit, total)
	}
	return "", ""
}
