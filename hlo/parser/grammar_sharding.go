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
	tileGrammar  = newGrammar[tileLeaf]("sharding")
	namedGrammar = newGrammar[namedLeaf]("named sharding")
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

// shardingOf takes the sharding of a value of shape s: that of one leaf stands for all leaves of a tuple.
func (p *parser) shardingOf(s hlo.Shape) *hlo.Sharding {
	v := p.sharding()
	if !s.IsTuple() || v.Kind == hlo.ShardingTuple {
		return v
	}
	t := &hlo.Sharding{Kind: hlo.ShardingTuple, Elements: make([]*hlo.Sharding, max(1, s.NumLeaves()))}
	for i := range t.Elements {
		t.Elements[i] = v
	}
	return t
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
	hasSubgroups := false
	for _, it := range t.Items {
		switch {
		case it.Word != "":
			words[it.Word] = true
		case it.Reduction != "":
			words["unreduced"] = true
			s.Reduction = reductions[it.Reduction]
		case it.Device != nil:
			devices, iota = []int64{int64(*it.Device)}, nil
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
	none := len(devices) == 0 && iota == nil
	switch s.Kind {
	case hlo.ShardingMaximal:
		if len(devices) != 1 || dims != nil {
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
	case r.product(dims, "tile assignment dimensions") < 2:
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

// tileAssignment is a grid of devices, listed or compressed.
type tileAssignment struct {
	dims, devices []int64
	iota          *hlo.IotaTile
}

// subgroupOrder is the order of kinds after normalisation.
var subgroupOrder = []hlo.ShardingKind{hlo.ShardingMaximal, hlo.ShardingManual, hlo.ShardingUnreduced, hlo.ShardingReplicated}

// normalise gives s the tile assignment t, whose last dimensions are subgroups of the given kinds (hlo-text section 6.2.2).
func (r valueReader) normalise(s *hlo.Sharding, t tileAssignment, kinds []hlo.ShardingKind) {
	data := len(t.dims) - len(kinds)
	if len(kinds) > 0 {
		same := !slices.ContainsFunc(kinds, func(k hlo.ShardingKind) bool { return k != kinds[0] })
		if same && r.product(t.dims[:data], "tile assignment dimensions") == 1 && kinds[0] != hlo.ShardingMaximal {
			s.Kind = kinds[0]
			return
		}
		perm := make([]int, data, len(t.dims))
		for i := range perm {
			perm[i] = i
		}
		merged := slices.Clone(t.dims[:data])
		var order []hlo.ShardingKind
		for _, kind := range subgroupOrder {
			size, any := int64(1), false
			for i, k := range kinds {
				if n := t.dims[data+i]; k == kind && n != 1 {
					perm = append(perm, data+i)
					size, any = size*n, true
				}
			}
			if any {
				merged, order = append(merged, size), append(order, kind)
			}
		}
		for i := data; i < len(t.dims); i++ {
			if !slices.Contains(perm, i) {
				perm = append(perm, i)
			}
		}
		t = r.transposed(t, perm)
		t.dims, kinds = merged, order
	}
	if len(kinds) == 1 && kinds[0] == hlo.ShardingReplicated {
		t = r.sortedGroups(t)
		s.ReplicateOnLastTileDim = true
		kinds = nil
	}
	s.TileDims, s.Devices, s.Iota, s.Subgroups = t.dims, t.devices, t.iota, kinds
}

// transposed reorders the dimensions of the grid. A compressed list stays compressed.
func (r valueReader) transposed(t tileAssignment, perm []int) tileAssignment {
	if slices.IsSorted(perm) {
		return t
	}
	size := r.product(t.dims, "tile assignment dimensions")
	if size > maxDevices {
		r.bad("tile assignment is too large")
	}
	order := expandIota(&hlo.IotaTile{Reshape: t.dims, Transpose: perm})
	if t.iota != nil {
		if c, ok := composeIota(t.iota, t.dims, perm); ok {
			t.iota = c
			return t
		}
		t.devices, t.iota = expandIota(t.iota), nil
	}
	devices := make([]int64, len(order))
	for i, o := range order {
		devices[i] = t.devices[o]
	}
	t.devices = devices
	return t
}

// composeIota transposes a compressed list seen as a grid of dims, when every dimension of the grid is made of whole dimensions of
// the list or the other way round.
func composeIota(t *hlo.IotaTile, dims []int64, perm []int) (*hlo.IotaTile, bool) {
	tperm := t.Transpose
	if len(tperm) == 0 {
		tperm = []int{0}
	}
	// Split both factorisations of the device count into common factors. parts[k] is a factor of grid dimension grid[k] and of
	// list dimension tperm[list[k]].
	var parts []int64
	var grid, list []int
	i, j := 0, 0
	a, b := int64(1), int64(1) // what is left of the current dimension on either side
	for {
		for a == 1 && i < len(dims) {
			a = dims[i]
			i++
		}
		for b == 1 && j < len(tperm) {
			b = t.Reshape[tperm[j]]
			j++
		}
		if a == 1 || b == 1 {
			break
		}
		// Dimensions are major first, so the major factors must match: take the smaller when it divides the larger.
		f := min(a, b)
		if a%f != 0 || b%f != 0 {
			return nil, false
		}
		parts, grid, list = append(parts, f), append(grid, i-1), append(list, j-1)
		a, b = a/f, b/f
	}
	// The refined list dimensions in the order of the iota.
	var reshape []int64
	place := make([]int, len(parts))
	for d := range t.Reshape {
		for k := range parts {
			if tperm[list[k]] == d {
				place[k] = len(reshape)
				reshape = append(reshape, parts[k])
			}
		}
	}
	var transpose []int
	for _, g := range perm {
		for k := range parts {
			if grid[k] == g {
				transpose = append(transpose, place[k])
			}
		}
	}
	return canonicalIota(reshape, transpose), true
}

// sortedGroups sorts the devices along the last dimension, which replicates.
func (r valueReader) sortedGroups(t tileAssignment) tileAssignment {
	group := t.dims[len(t.dims)-1]
	if t.iota != nil {
		perm := t.iota.Transpose
		if c, ok := sortedIota(t.iota, group); ok {
			t.iota = c
			return t
		}
		if len(perm) == 0 {
			return t
		}
		if r.product(t.dims, "tile assignment dimensions") > maxDevices {
			r.bad("tile assignment is too large")
		}
		t.devices = expandIota(t.iota)
		sorted := slices.Clone(t.devices)
		sortRuns(sorted, group)
		if slices.Equal(sorted, t.devices) {
			t.devices = nil
			return t
		}
		t.iota, t.devices = nil, sorted
		return t
	}
	t.devices = slices.Clone(t.devices)
	sortRuns(t.devices, group)
	return t
}

// sortedIota sorts the runs of n devices of a compressed list, when dimensions of the list, or a part of one, make up a run.
func sortedIota(t *hlo.IotaTile, n int64) (*hlo.IotaTile, bool) {
	perm, reshape := slices.Clone(t.Transpose), slices.Clone(t.Reshape)
	size := int64(1)
	for k := len(perm) - 1; k >= 0; k-- {
		d := perm[k]
		size *= reshape[d]
		if size < n {
			continue
		}
		if outer := size / n; size != n {
			// The run takes the minor part of this dimension: cut it in two.
			if size%n != 0 || reshape[d]%outer != 0 {
				return nil, false
			}
			reshape = slices.Insert(reshape, d, outer)
			reshape[d+1] /= outer
			for i := range perm {
				if perm[i] > d {
					perm[i]++
				}
			}
			k++
			perm = slices.Insert(perm, k, d+1)
		}
		slices.Sort(perm[k:])
		return canonicalIota(reshape, perm), true
	}
	return nil, false
}

func sortRuns(v []int64, n int64) {
	for run := range slices.Chunk(v, int(n)) {
		slices.Sort(run)
	}
}

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

func (p *parser) buildNamed(n *namedLeaf, at int) *hlo.Sharding {
	r := valueReader{p, at}
	m := r.mesh(&n.Mesh)
	v := &hlo.NamedSharding{Mesh: m, Body: hlo.ShardingReplicated}
	s := &hlo.Sharding{Kind: hlo.ShardingNamed, Named: v}
	b := n.Body
	if b == nil {
		b = new(namedBody)
	}
	hasBody := b.Dims != nil || b.Replicated || b.Unreduced != nil || b.Manual
	switch {
	case m.Maximal && hasBody:
		r.bad("a maximal mesh has nothing to shard along")
	case !m.Maximal && !hasBody:
		r.bad("expects dimensions, replicated, unreduced or manual after the mesh")
	case m.Maximal:
		v.Body = hlo.ShardingMaximal
	case b.Unreduced != nil:
		v.Body = hlo.ShardingUnreduced
		s.Reduction = reductions[b.Unreduced.Reduction]
		if b.Unreduced.Axes != nil {
			v.Body = hlo.ShardingTiled
			v.Unreduced = r.axes(m, b.Unreduced.Axes.Axes)
		}
	case b.Manual:
		v.Body = hlo.ShardingManual
	case b.Dims != nil:
		v.Body = hlo.ShardingTiled
		r.namedDims(s, b.Dims)
	}
	if b.Metadata != nil {
		if s.HasMetadata {
			r.bad("attribute metadata already exists")
		}
		r.shardingMetadata(s, b.Metadata)
	}
	lists := [][]hlo.AxisRef{v.Replicated, v.Unreduced, v.Manual}
	for _, d := range v.Dims {
		lists = append(lists, d.Axes)
	}
	r.checkDisjoint(m, lists...)
	r.checkSorted(v.Replicated, "replicated")
	r.checkSorted(v.Unreduced, "unreduced")
	r.checkSorted(v.Manual, "manual")
	return s
}

func (r valueReader) namedDims(s *hlo.Sharding, d *namedDims) {
	v := s.Named
	v.Dims = make([]hlo.DimSharding, len(d.Dims))
	for i, dim := range d.Dims {
		for k := range dim.Axes {
			a := &dim.Axes[k]
			switch {
			case v.Dims[i].Open:
				r.bad("Saw axis ref after '?'")
			case a.Open:
				v.Dims[i].Open = true
			default:
				v.Dims[i].Axes = append(v.Dims[i].Axes, r.axis(v.Mesh, a.Ref))
			}
		}
	}
	for _, e := range d.Extras {
		switch {
		case e.Replicated != nil:
			v.Replicated = append(v.Replicated, r.axes(v.Mesh, e.Replicated.Axes)...)
		case e.Unreduced != nil:
			s.Reduction = reductions[e.Unreduced.Reduction]
			v.Unreduced = append(v.Unreduced, r.axes(v.Mesh, e.Unreduced.Axes.Axes)...)
		case e.Manual != nil:
			v.Manual = append(v.Manual, r.axes(v.Mesh, e.Manual.Axes)...)
		case e.Metadata != nil:
			r.shardingMetadata(s, e.Metadata)
		}
	}
}
