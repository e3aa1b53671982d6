package mlir

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// resource reads the rest of `dense_resource<key> : type`.
func (r *reader) resource(at int) Attr {
	r.expect("<")
	var key string
	if r.peek() == '"' {
		key = r.quoted()
	} else {
		key = r.suffix("resource")
	}
	r.expect(">")
	r.expect(":")
	t := r.typ()
	if t.Kind != Tensor || !t.IsStatic() {
		r.failAt(at, "dense elements of type %v: want a tensor of known size", t)
	}
	if key == "__elided__" {
		r.failElided(at)
	}
	if r.resources == nil {
		r.readResources()
	}
	s, ok := r.resources[key]
	if !ok {
		r.failAt(at, "there is no resource %s: the text has no data for it", key)
	}
	data, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(data) < 4 {
		r.failAt(at, "the resource %s is no hexadecimal string of an alignment and data", key)
	}
	if align := binary.LittleEndian.Uint32(data); align == 0 || align&(align-1) != 0 {
		r.failAt(at, "the resource %s has the alignment %d, want a power of two", key, align)
	}
	d, msg := MakeDense(t, data[4:])
	if msg != "" {
		r.failAt(at, "the resource %s: %s", key, msg)
	}
	return d
}

// readResources reads the part of the file between {-# and #-}, which is the last one.
func (r *reader) readResources() {
	r.resources = make(map[string]string)
	at := strings.LastIndex(r.text, "{-#")
	if at < 0 {
		return
	}
	save := r.pos
	r.pos = at
	r.resourcePart(true)
	r.pos = save
}

func (r *reader) skipResources() { r.resourcePart(false) }

// resourcePart reads `{-# dialect_resources: { builtin: { key: "0x..." } } #-}`.
func (r *reader) resourcePart(keep bool) {
	r.expect("{-#")
	for first := true; !r.accept("#-}"); first = false {
		if !first {
			r.expect(",")
		}
		kind := r.word("a kind of resources")
		r.expect(":")
		r.resourceGroups(keep && kind == "dialect_resources")
	}
}

func (r *reader) resourceGroups(keep bool) {
	r.expect("{")
	for first := true; !r.accept("}"); first = false {
		if !first {
			r.expect(",")
		}
		r.resourceKey()
		r.expect(":")
		r.expect("{")
		for first := true; !r.accept("}"); first = false {
			if !first {
				r.expect(",")
			}
			key := r.resourceKey()
			r.expect(":")
			if r.peek() != '"' {
				r.word("a value")
				continue
			}
			if s := r.quoted(); keep {
				r.resources[key] = s
			}
		}
	}
}

func (r *reader) resourceKey() string {
	if r.peek() == '"' {
		return r.quoted()
	}
	return r.suffix("resource")
}
