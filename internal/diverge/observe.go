package diverge

import (
	"context"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
)

// observation is an execution with its values in the order in which they were computed.
type observation struct {
	values []value
	index  map[valueKey]int
	counts map[string]int
	bytes  int64
	all    map[valueKey]*hlo.Literal // those, and what only hands values on
	limit  int64
	unseen int
	result *hlo.Literal

	nan   map[place]bool // whose latest values have a NaN
	birth *Birth
	last  map[place]*hlo.Literal // of each instruction
	entry hlo.CompID
}

type value struct {
	in        hlo.Instruction
	execution int
	literal   *hlo.Literal
}

// valueKey is what values of two sides have in common.
type valueKey struct {
	name      string // of instructions; unique in a module
	execution int
}

type place struct {
	comp hlo.CompID
	id   hlo.InstrID
}

func placeOf(in hlo.Instruction) place { return place{in.Computation().ID(), in.ID()} }

func (v *value) key() valueKey { return valueKey{v.in.Name(), v.execution} }

func (o *observation) find(k valueKey) *value {
	if i, ok := o.index[k]; ok {
		return &o.values[i]
	}
	return nil
}

// at is a value, or nil.
func (o *observation) at(k valueKey) *hlo.Literal {
	return o.all[k]
}

func newObservation(m hlo.Module, limit int64) *observation {
	return &observation{index: map[valueKey]int{}, all: map[valueKey]*hlo.Literal{}, counts: map[string]int{}, limit: limit, nan: map[place]bool{},
		last: map[place]*hlo.Literal{}, entry: m.Entry().ID()}
}

// add takes a value in.
func (o *observation) add(in hlo.Instruction, l *hlo.Literal) {
	o.counts[in.Name()]++
	n := o.counts[in.Name()]
	o.last[placeOf(in)] = l
	if o.birth == nil {
		o.watch(in, n, l)
	}
	switch in.Opcode() {
	case hlo.OpTuple, hlo.OpGetTupleElement, hlo.OpConstant, hlo.OpParameter, hlo.OpAsyncStart, hlo.OpAsyncUpdate:
		o.all[valueKey{in.Name(), n}] = l
		return // other instructions have the same
	}
	size := l.Shape().ByteSize()
	if o.bytes+size > o.limit {
		o.unseen++
		return
	}
	o.bytes += size
	v := value{in, n, l}
	o.all[v.key()] = l
	o.index[v.key()] = len(o.values)
	o.values = append(o.values, v)
}

// observe executes a side.
func observe(ctx context.Context, s Side, args []*hlo.Literal, cfg *Config) (*observation, error) {
	o := newObservation(s.Module, cfg.MaxBytes)
	if s.Engine == halo.BEF {
		return o, o.compiled(ctx, s.Module, args, cfg)
	}
	add := func(in hlo.Instruction, l *hlo.Literal) {
		o.add(in, l)
		if cfg.Seen != nil && cfg.side != "" {
			cfg.Seen(cfg.side, in, len(o.values)+o.unseen)
		}
	}
	var err error
	o.result, err = execute(ctx, s, args, cfg, add)
	return o, err
}
