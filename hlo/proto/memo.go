package proto

import "github.com/gohalo/halo/hlo"

// memo remembers what bytes within one module meant, so that each message is read once and its meaning is shared: instructions of real
// programs have the shapes, attributes and metadata of others thousands of times. Keys share memory with what is read.
type memo struct {
	shapes
	shardings  map[string]*hlo.Sharding
	groups     map[groupsKey]*hlo.ReplicaGroups
	attributes map[attributesKey]attributes
	metadata   map[string]*hlo.Common // with metadata and nothing else; nil for metadata that says nothing
	pairs      map[commonPair]*hlo.Common
	joined     []byte // room for attributes that are not in one piece
}

// attributes is what a message of attributes says; common, nil for none, is without metadata.
type attributes struct {
	own    hlo.OpAttrs
	common *hlo.Common
}

// attributesKey is what attributes depend on. The few that depend on the shapes of other operands than the first are not remembered.
type attributesKey struct {
	op             hlo.Opcode
	shape, operand hlo.Shape
	raw            string
}

// commonPair is common attributes and metadata that an instruction has both.
type commonPair struct{ common, metadata *hlo.Common }

// maxMemo is the length from which on attributes, which may have the data of constants, are not remembered.
const maxMemo = 4096

func newMemo() memo {
	return memo{
		shapes: make(shapes), shardings: make(map[string]*hlo.Sharding), groups: make(map[groupsKey]*hlo.ReplicaGroups),
		attributes: make(map[attributesKey]attributes), metadata: make(map[string]*hlo.Common), pairs: make(map[commonPair]*hlo.Common),
	}
}

// attributes reads what is left of an instruction.
func (d *decoder) attributes(a *attrDecoder, rest spans) (attributes, error) {
	key := attributesKey{op: a.op, shape: a.shape, operand: a.operands[0]}
	size := 0
	for _, run := range rest {
		size += len(run)
	}
	switch {
	case size > maxMemo:
		return a.read(rest)
	case len(rest) == 1:
		key.raw = sharedString(rest[0])
	case len(rest) > 1:
		d.joined = d.joined[:0]
		for _, run := range rest {
			d.joined = append(d.joined, run...)
		}
		key.raw = sharedString(d.joined)
	}
	if known, ok := d.memo.attributes[key]; ok {
		return known, nil
	}
	read, err := a.read(rest)
	if err == nil && !a.unusual {
		if len(rest) > 1 {
			key.raw = string(d.joined)
		}
		d.memo.attributes[key] = read
	}
	return read, err
}

// metadataOf reads the metadata of an instruction.
func (d *decoder) metadataOf(raw rawMsg) (*hlo.Common, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if c, ok := d.metadata[sharedString(raw)]; ok {
		return c, nil
	}
	var m metadataMsg
	if err := unmarshal(raw, &m); err != nil {
		return nil, err
	}
	md, err := d.decodeMetadata(&m)
	if err != nil {
		return nil, err
	}
	var c *hlo.Common
	if md != nil {
		c = &hlo.Common{Metadata: md}
	}
	d.metadata[sharedString(raw)] = c
	return c, nil
}

// merged is common attributes with metadata; either may be nil.
func (m *memo) merged(common, metadata *hlo.Common) *hlo.Common {
	switch {
	case common == nil:
		return metadata
	case metadata == nil:
		return common
	}
	key := commonPair{common, metadata}
	c, ok := m.pairs[key]
	if !ok {
		both := *common
		both.Metadata = metadata.Metadata
		c = &both
		m.pairs[key] = c
	}
	return c
}
