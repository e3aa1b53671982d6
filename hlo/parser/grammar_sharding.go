package parser

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// tileLeaf is a sharding of version 1 or 2 for one leaf (hlo-text section 6.2).
type tileLeaf struct {
	Items []tileItem `parser:"'{' @@* '}'"`
}

type tileItem struct {
	Word      string            `parser:"  @('replicated':Ident | 'maximal':Ident | 'manual':Ident | 'unknown':Ident | 'unreduced':Ident | 'last_tile_dim_replicate':Ident)"`
	Reduction string            `parser:"| 'unreduced':Key @('sum' | 'max' | 'min')"`
	Device    *integer          `parser:"| 'device':Key @Int"`
	Devices   *tileDevices      `parser:"| 'devices':Key @@"`
	Subgroups *tileKinds        `parser:"| 'last_tile_dims':Key @@"`
	Group     string            `parser:"| ( @('shard_as' | 'shard_like')"`
	GroupID   integer           `parser:"    @Int )"`
	Metadata  *shardingMetadata `parser:"| 'metadata':Key @@"`
}

type tileKinds struct {
	Kinds []string `parser:"'{' (@Ident (',' @Ident)*)? '}'"`
}

type tileDevices struct {
	Dims []integer   `parser:"'[' @Int (',' @Int)* ']'"`
	Iota *iotaSyntax `parser:"(  '<=' @@"`
	List []integer   `parser:" | @Int (',' @Int)* )"`
}

// shardingMetadata is one set of metadata or a list of them.
type shardingMetadata struct {
	Many []metadataSet  `parser:"'{' (  @@ (',' @@)*"`
	One  []metadataPair `parser:"     | @@ (',' @@ | @@)* )? '}'"`
}

type metadataSet struct {
	Pairs []metadataPair `parser:"'{' (@@ (',' @@ | @@)*)? '}'"`
}

type metadataPair struct {
	Key    string     `parser:"@Key"`
	String *quoted    `parser:"(  @String"`
	Int    *integer   `parser:" | @Int"`
	List   *intSyntax `parser:" | @@ )"`
}

type intSyntax struct {
	Ints []integer `parser:"'{' (@Int (',' @Int)*)? '}'"`
}

// namedLeaf is a sharding of version 3 (hlo-text section 6.2.3).
type namedLeaf struct {
	Mesh meshSyntax `parser:"'{' @@ ','?"`
	Body *namedBody `parser:"@@? '}'"`
}

type namedBody struct {
	Dims       *namedDims        `parser:"(  @@"`
	Replicated bool              `parser:" | @'replicated':Ident"`
	Unreduced  *namedUnreduced   `parser:" | @@"`
	Manual     bool              `parser:" | @'manual':Ident )?"`
	Metadata   *shardingMetadata `parser:"(','? 'metadata':Key @@)?"`
}

type namedUnreduced struct {
	Plain     bool        `parser:"( @'unreduced':Ident"`
	Reduction string      `parser:"| 'unreduced':Key @('sum' | 'max' | 'min') )"`
	Axes      *axesSyntax `parser:"@@?"`
}

type namedDims struct {
	Dims   []dimSyntax  `parser:"'[' (@@ (',' @@)*)? ']'"`
	Extras []namedExtra `parser:"(',' @@)*"`
}

type dimSyntax struct {
	Axes []dimAxis `parser:"'{' (@@ (',' @@)*)? '}'"`
}

type dimAxis struct {
	Open bool           `parser:"  @'?'"`
	Ref  *axisRefSyntax `parser:"| @@"`
}

type namedExtra struct {
	Replicated *axesSyntax       `parser:"  'replicated':Key @@"`
	Unreduced  *extraUnreduced   `parser:"| 'unreduced':Key @@"`
	Manual     *axesSyntax       `parser:"| 'manual':Key @@"`
	Metadata   *shardingMetadata `parser:"| 'metadata':Key @@"`
}

type extraUnreduced struct {
	Reduction string     `parser:"@('sum' | 'max' | 'min')?"`
	Axes      axesSyntax `parser:"@@"`
}

var (
	tileGrammar  = newGrammar[*tileLeaf]("sharding")
	namedGrammar = newGrammar[*namedLeaf]("named sharding")
)

// sharding takes a sharding of any version.
func (p *parser) sharding() *hlo.Sharding {
	p.space()
	at := p.pos
	if p.peek() != '{' {
		p.fail("expected '{' to start sharding attribute")
	}
	switch next := skipSpace(p.src, p.pos+1); {
	case next < len(p.src) && (p.src[next] == '{' || p.src[next] == '}'):
		s := &hlo.Sharding{Kind: hlo.ShardingTuple}
		p.list(func() {
			p.space()
			leaf := p.pos
			if p.peek() != '{' {
				p.fail("expected '{' to start sharding attribute")
			}
			s.Elements = append(s.Elements, p.leafSharding(p.group(), leaf))
		})
		return s
	}
	return p.leafSharding(p.group(), at)
}

// shardingOf takes the sharding of a value of shape s.
func (p *parser) shardingOf(s hlo.Shape) *hlo.Sharding { return spread(p.sharding(), s) }

// spread is the sharding v of a value of shape s: that of one leaf stands for all leaves of a tuple.
func spread(v *hlo.Sharding, s hlo.Shape) *hlo.Sharding {
	if !s.IsTuple() || v.Kind == hlo.ShardingTuple {
		return v
	}
	t := &hlo.Sharding{Kind: hlo.ShardingTuple, Elements: make([]*hlo.Sharding, max(1, s.NumLeaves()))}
	for i := range t.Elements {
		t.Elements[i] = v
	}
	return t
}

// spreadSharding gives the leaves of a tuple the sharding that was read when the shape was not known yet.
func (d *draft) spreadSharding() {
	if d.spec.Common == nil || d.spec.Common.Sharding == nil {
		return
	}
	if all := spread(d.spec.Common.Sharding, d.spec.Shape); all != d.spec.Common.Sharding {
		c := *d.spec.Common
		c.Sharding = all
		d.spec.Common = &c
	}
}

func (p *parser) leafSharding(raw string, at int) *hlo.Sharding {
	body := raw[skipSpace(raw, 1):]
	if strings.HasPrefix(body, "mesh[") || strings.HasPrefix(body, "maximal_mesh[") {
		return cached(p, namedGrammar, raw, at, p.buildNamed)
	}
	return cached(p, tileGrammar, raw, at, p.buildTile)
}

var subgroupKinds = map[string]hlo.ShardingKind{
	"maximal": hlo.ShardingMaximal, "replicated": hlo.ShardingReplicated, "manual": hlo.ShardingManual, "unreduced": hlo.ShardingUnreduced,
}

// kindWords are the kinds of a whole leaf; of several the first counts.
var kindWords = []struct {
	word string
	kind hlo.ShardingKind
}{
	{"replicated", hlo.ShardingReplicated}, {"maximal", hlo.ShardingMaximal}, {"manual", hlo.ShardingManual},
	{"unknown", hlo.ShardingUnknown}, {"unreduced", hlo.ShardingUnreduced},
}

var reductions = map[string]hlo.ReductionKind{"sum": hlo.ReductionSum, "max": hlo.ReductionMax, "min": hlo.ReductionMin}

func (p *parser) buildTile(t *tileLeaf, at int) *hlo.Sharding {
	r := valueReader{p, at}
	s := new(hlo.Sharding)
	words := make(map[string]bool)
	var dims, devices []int64
	var iota *hlo.IotaTile
	var kinds []hlo.ShardingKind
	hasSubgroups, single := false, false
	for _, it := range t.Items {
		switch {
		case it.Word != "":
			words[it.Word] = true
		case it.Reduction != "":
			words["unreduced"] = true
			s.Reduction = reductions[it.Reduction]
		case it.Device != nil:
			devices, single = []int64{int64(*it.Device)}, true
		case it.Devices != nil:
			dims = ints(it.Devices.Dims)
			n := r.product(dims, "tile assignment dimensions")
			if it.Devices.Iota != nil {
				var count int64
				if iota, count = r.iota(it.Devices.Iota); count != n {
					r.bad("iota tile assignment size %d does not match the tile assignment dimensions product %d", count, n)
				}
				devices = nil
			} else {
				devices, iota = ints(it.Devices.List), nil
				if int64(len(devices)) != n {
					r.bad("sharding device count %d does not match the tile assignment size %d", len(devices), n)
				}
			}
		case it.Subgroups != nil:
			hasSubgroups = true
			kinds = kinds[:0]
			for _, k := range it.Subgroups.Kinds {
				kind, ok := subgroupKinds[k]
				if !ok {
					r.bad("unknown kind of tile dimension %q in last_tile_dims", k)
				}
				kinds = append(kinds, kind)
			}
		case it.Group != "":
			s.Group, s.GroupID = hlo.ShardAs, int64(it.GroupID)
			if it.Group == "shard_like" {
				s.Group = hlo.ShardLike
			}
		case it.Metadata != nil:
			r.shardingMetadata(s, it.Metadata)
		}
	}
	lastReplicates := words["last_tile_dim_replicate"]
	if lastReplicates && hasSubgroups {
		r.bad("last_tile_dim_replicate and last_tile_dims exclude each other")
	}
	s.Kind = hlo.ShardingTiled
	for _, k := range kindWords {
		if words[k.word] {
			s.Kind = k.kind
			break
		}
	}
	if single && dims != nil {
		r.bad("device= and devices= exclude each other")
	}
	none := len(devices) == 0 && iota == nil
	switch s.Kind {
	case hlo.ShardingMaximal:
		if len(devices) != 1 {
			r.bad("maximal shardings should have exactly one device assigned")
		}
		s.Devices = devices
		return s
	case hlo.ShardingTiled:
	default:
		if !none {
			r.bad("%s shardings should not have any devices assigned", kindWords[slices.IndexFunc(kindWords, func(k struct {
				word string
				kind hlo.ShardingKind
			}) bool {
				return k.kind == s.Kind
			})].word)
		}
		return s
	}
	switch {
	case dims == nil:
		r.bad("non-maximal shardings must have a tile assignment list including dimensions")
	case iota == nil && len(devices) < 2: // a compressed list may have one
		r.failRule("SHD-05", r.at, "non-maximal shardings must have more than one device assigned")
	case len(kinds) > len(dims):
		r.bad("last_tile_dims has %d kinds, the tile assignment %d dimensions", len(kinds), len(dims))
	}
	if lastReplicates {
		kinds = []hlo.ShardingKind{hlo.ShardingReplicated}
	}
	r.normalise(s, tileAssignment{dims, devices, iota}, kinds)
	return s
}

// subgroupOrder is the order of kinds after normalisation.
var subgroupOrder = []hlo.ShardingKind{hlo.ShardingMaximal, hlo.ShardingManual, hlo.ShardingUnreduced, hlo.ShardingReplicated}

// reductionOp marks metadata that encodes the reduction of an unreduced sharding.
const reductionOp = "sdy::reduction_op"

// shardingMetadata gives s metadata, but for entries that encode its reduction.
func (r valueReader) shardingMetadata(s *hlo.Sharding, m *shardingMetadata) {
	sets := m.Many
	if len(sets) == 0 {
		sets = []metadataSet{{m.One}}
	}
	stripped := false
	for _, set := range sets {
		md := r.metadataOf(set.Pairs)
		if md.OpType == reductionOp {
			stripped = true
			if k, ok := reductions[strings.ToLower(md.OpName)]; ok {
				s.Reduction = k
			}
			continue
		}
		s.Metadata = append(s.Metadata, md)
	}
	s.HasMetadata = len(s.Metadata) > 0 || !stripped
}

func (r valueReader) metadataOf(pairs []metadataPair) *hlo.Metadata {
	m := new(hlo.Metadata)
	seen := make(map[string]bool)
	for _, pair := range pairs {
		if seen[pair.Key] {
			r.bad("attribute %s already exists", pair.Key)
		}
		seen[pair.Key] = true
		str, num := r.metadataField(m, pair.Key)
		switch {
		case pair.Key == "profile_type" && pair.List != nil:
			m.ProfileType = ints(pair.List.Ints)
		case str != nil && pair.String != nil:
			*str = string(*pair.String)
			m.HasPayload = m.HasPayload || pair.Key == "metadata_payload"
		case num != nil && pair.Int != nil && int64(*pair.Int) == int64(int32(*pair.Int)):
			*num = int32(*pair.Int)
		case !slices.Contains(metadataKeys, pair.Key):
			r.failHint(r.at, didYouMean(pair.Key, metadataKeys), "unexpected attribute %q. Allowed attributes: %s", pair.Key, strings.Join(allowed(metadataKeys), ", "))
		default:
			r.bad("the value of %s in metadata is of the wrong type", pair.Key)
		}
	}
	return m
}

func (valueReader) metadataField(m *hlo.Metadata, key string) (*string, *int32) {
	switch key {
	case "op_type":
		return &m.OpType, nil
	case "op_name":
		return &m.OpName, nil
	case "source_file":
		return &m.SourceFile, nil
	case "source_line":
		return nil, &m.SourceLine
	case "source_end_line":
		return nil, &m.SourceEndLine
	case "source_column":
		return nil, &m.SourceColumn
	case "source_end_column":
		return nil, &m.SourceEndColumn
	case "deduplicated_name":
		return &m.DeduplicatedName, nil
	case "scheduling_name":
		return &m.SchedulingName, nil
	case "stack_frame_id":
		return nil, &m.StackFrameID
	case "metadata_payload":
		return &m.Payload, nil
	}
	return nil, nil
}
