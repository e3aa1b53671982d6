package proto

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// common reads what any instruction may have, but for metadata; nil when it has none of it. XLA writes most of these messages even when they are empty.
func (a *attrDecoder) common() (*hlo.Common, error) {
	in := a.in
	c := &a.d.scratch
	*c = hlo.Common{}
	var err error
	if c.Sharding, err = a.d.sharding(in.Sharding); err != nil {
		return nil, within(err, "sharding")
	}
	if c.FrontendAttributes, err = decodeFrontend(in.Frontend); err != nil {
		return nil, within(err, "frontend_attributes")
	}
	if c.Statistics, err = decodeStatistics(in.Statistics); err != nil {
		return nil, within(err, "statistics_viz")
	}
	if r := in.ResultAccuracy; r != nil {
		switch {
		case r.Tolerance != nil:
			c.ResultAccuracy = &hlo.ResultAccuracy{ATol: r.Tolerance.ATol, RTol: r.Tolerance.RTol, ULPs: r.Tolerance.ULPs}
		case r.Mode.Value == 1:
			c.ResultAccuracy = &hlo.ResultAccuracy{Highest: true}
		}
	}
	c.Origin = decodeOrigin(in.Origin, a.shape)
	c.BackendConfig = in.BackendConfig
	if in.BackendPayload != nil {
		if c.BackendConfig, err = a.d.payload(in.BackendPayload); err != nil {
			return nil, within(err, "backend_config_payload")
		}
	}
	if p := in.ParameterReplication; p != nil && a.op == hlo.OpParameter && len(p.Flags) > 0 {
		if len(p.Flags) != a.shape.NumLeaves() {
			return nil, within(errorf("%d flags of %d leaves", len(p.Flags), a.shape.NumLeaves()), "parameter_replication")
		}
		c.ParameterReplication = p.Flags
	}
	c.Unknown = decodeUnknown(in.Unknown)
	if reflect.ValueOf(c).Elem().IsZero() {
		return nil, nil
	}
	found := *c
	return &found, nil
}

// encodeCommon is the inverse of attrDecoder.common.
func (e *encoder) encodeCommon(m *commonMsg, c *hlo.Common, shape hlo.Shape) {
	*m = commonMsg{
		Sharding: e.sharding(c.Sharding), Frontend: encodeFrontend(c.FrontendAttributes), BackendConfig: c.BackendConfig,
		Statistics: encodeStatistics(c.Statistics), Origin: encodeOrigin(c.Origin, shape), Unknown: encodeUnknown(c.Unknown),
	}
	if r := c.ResultAccuracy; r != nil {
		m.ResultAccuracy = &accuracyMsg{Mode: hlo.SomeInt(1)}
		if !r.Highest {
			m.ResultAccuracy = &accuracyMsg{Tolerance: &toleranceMsg{r.ATol, r.RTol, r.ULPs}}
		}
	}
	if c.ParameterReplication != nil {
		m.ParameterReplication = &replicationMsg{c.ParameterReplication}
	}
}

func decodeUnknown(list []*unknownMsg) (out []hlo.UnknownAttr) {
	for _, u := range list {
		out = append(out, hlo.UnknownAttr{Key: u.Key, Text: u.Text})
	}
	return out
}

func encodeUnknown(list []hlo.UnknownAttr) (out []*unknownMsg) {
	for _, u := range list {
		out = append(out, &unknownMsg{u.Key, u.Text})
	}
	return out
}

// decodeFrontend reads a frontendMsg, a map whose entries are in any order; nil for none.
func decodeFrontend(raw rawMsg) (*hlo.FrontendAttributes, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var m frontendMsg
	if err := unmarshal(raw, &m); err != nil || len(m.Entries) == 0 {
		return nil, err
	}
	f := &hlo.FrontendAttributes{Entries: make([]hlo.FrontendAttribute, 0, len(m.Entries))}
	for _, e := range m.Entries {
		f.Entries = append(f.Entries, hlo.FrontendAttribute{Key: e.Key, Value: e.Value})
	}
	slices.SortStableFunc(f.Entries, func(a, b hlo.FrontendAttribute) int { return cmp.Compare(a.Key, b.Key) })
	kept := f.Entries[:0] // the last of equal keys
	for i, e := range f.Entries {
		if i+1 == len(f.Entries) || f.Entries[i+1].Key != e.Key {
			kept = append(kept, e)
		}
	}
	f.Entries = kept
	return f, nil
}

func encodeFrontend(f *hlo.FrontendAttributes) rawMsg {
	if f == nil {
		return nil
	}
	m := new(frontendMsg)
	for _, e := range f.Entries {
		m.Entries = append(m.Entries, &frontendEntry{e.Key, e.Value})
	}
	return marshal(rawMsg{}, m)
}

// decodeStatistics reads a statisticsMsg; nil for none.
func decodeStatistics(raw rawMsg) (*hlo.Statistics, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var m statisticsMsg
	if err := unmarshal(raw, &m); err != nil || len(m.Entries) == 0 {
		return nil, err
	}
	s := &hlo.Statistics{VisualizingIndex: m.Visualizing, Entries: make([]hlo.Statistic, 0, len(m.Entries))}
	for _, e := range m.Entries {
		s.Entries = append(s.Entries, hlo.Statistic{Name: e.Name, Value: e.Value})
	}
	return s, nil
}

func encodeStatistics(s *hlo.Statistics) rawMsg {
	if s == nil {
		return nil
	}
	m := &statisticsMsg{Visualizing: s.VisualizingIndex}
	for _, x := range s.Entries {
		m.Entries = append(m.Entries, &statisticMsg{x.Name, x.Value})
	}
	return marshal(rawMsg{}, m)
}

// decodeMetadata is nil when the message says nothing.
func (d *decoder) decodeMetadata(m *metadataMsg) (*hlo.Metadata, error) {
	md := &hlo.Metadata{
		OpType: m.OpType, OpName: m.OpName, SourceFile: m.SourceFile, SourceLine: m.SourceLine, SourceEndLine: m.SourceEndLine,
		SourceColumn: m.SourceColumn, SourceEndColumn: m.SourceEndColumn, ProfileType: m.ProfileType, DeduplicatedName: m.DeduplicatedName,
		SchedulingName: m.SchedulingName, StackFrameID: m.StackFrameID,
	}
	for _, t := range md.ProfileType {
		if t < 0 || t > 3 {
			return nil, errorf("profile type %d", t)
		}
	}
	if m.Payload != nil {
		p, err := d.payload(m.Payload)
		if err != nil {
			return nil, err
		}
		md.Payload, md.HasPayload = p, true
	}
	if reflect.ValueOf(md).Elem().IsZero() {
		return nil, nil
	}
	return md, nil
}

func encodeMetadata(m *hlo.Metadata) *metadataMsg {
	out := &metadataMsg{
		OpType: m.OpType, OpName: m.OpName, SourceFile: m.SourceFile, SourceLine: m.SourceLine, SourceEndLine: m.SourceEndLine,
		SourceColumn: m.SourceColumn, SourceEndColumn: m.SourceEndColumn, ProfileType: m.ProfileType, DeduplicatedName: m.DeduplicatedName,
		SchedulingName: m.SchedulingName, StackFrameID: m.StackFrameID,
	}
	if m.HasPayload {
		out.Payload = &payloadMsg{Value: m.Payload}
	}
	return out
}

// decodeOrigin hangs the listed leaves on a tree of the given shape.
func decodeOrigin(m *originMsg, shape hlo.Shape) *hlo.Origin {
	switch {
	case m == nil:
		return nil
	case m.SyntheticCall:
		return &hlo.Origin{SyntheticCall: true}
	case m.Tree != nil:
		return &hlo.Origin{Tree: decodeOriginTree(m.Tree)}
	}
	tree := originTree(shape)
	for _, e := range m.Elements {
		n := tree
		for _, i := range e.Index {
			if !n.IsTuple || i < 0 || i >= int64(len(n.Elements)) {
				n = nil
				break
			}
			n = n.Elements[i]
		}
		if n != nil && !n.IsTuple && e.Array != nil {
			*n = decodeOriginArray(e.Array)
		}
	}
	return &hlo.Origin{Tree: tree}
}

// originTree is a tree like the shape with unknown leaves.
func originTree(s hlo.Shape) *hlo.OriginNode {
	n := &hlo.OriginNode{IsTuple: s.IsTuple()}
	if n.IsTuple {
		for i := range s.NumElems() {
			n.Elements = append(n.Elements, originTree(s.Elem(i)))
		}
	}
	return n
}

func decodeOriginArray(m *originArrayMsg) hlo.OriginNode {
	if m == nil {
		return hlo.OriginNode{}
	}
	return hlo.OriginNode{Name: m.Name, HasName: true, Index: m.Index}
}

func decodeOriginTree(m *originTreeMsg) *hlo.OriginNode {
	n := decodeOriginArray(m.Array)
	n.IsTuple, n.Calls = m.IsTuple, m.Calls
	for _, e := range m.Elements {
		n.Elements = append(n.Elements, decodeOriginTree(e))
	}
	return &n
}

// encodeOrigin lists the named leaves; a tree that these and the shape do not give back goes into a field of our own.
func encodeOrigin(o *hlo.Origin, shape hlo.Shape) *originMsg {
	if o == nil {
		return nil
	}
	m := &originMsg{SyntheticCall: o.SyntheticCall}
	if o.Tree == nil {
		return m
	}
	var list func(n *hlo.OriginNode, index []int64)
	list = func(n *hlo.OriginNode, index []int64) {
		for i, e := range n.Elements {
			list(e, append(slices.Clone(index), int64(i)))
		}
		if !n.IsTuple {
			m.Elements = append(m.Elements, &originElementMsg{index, encodeOriginArray(n)})
		}
	}
	list(o.Tree, nil)
	if back := decodeOrigin(m, shape); !hlo.EqualAttr(back, o) {
		m.Tree = encodeOriginTree(o.Tree)
	}
	return m
}

func encodeOriginArray(n *hlo.OriginNode) *originArrayMsg {
	if !n.HasName {
		return nil
	}
	return &originArrayMsg{n.Name, n.Index}
}

func encodeOriginTree(n *hlo.OriginNode) *originTreeMsg {
	m := &originTreeMsg{IsTuple: n.IsTuple, Array: encodeOriginArray(n), Calls: n.Calls}
	for _, e := range n.Elements {
		m.Elements = append(m.Elements, encodeOriginTree(e))
	}
	return m
}
