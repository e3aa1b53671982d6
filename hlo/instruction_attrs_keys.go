package hlo

import (
	"fmt"
	"slices"
)

// The keys of the common attributes (hlo-text section 6).
const (
	KeySharding             AttrKey = "sharding"
	KeyFrontendAttributes   AttrKey = "frontend_attributes"
	KeyStatistics           AttrKey = "statistics"
	KeyResultAccuracy       AttrKey = "result_accuracy"
	KeyOrigin               AttrKey = "origin"
	KeyMetadata             AttrKey = "metadata"
	KeyBackendConfig        AttrKey = "backend_config"
	KeyParameterReplication AttrKey = "parameter_replication"
)

// commonAttr is what can be done with the field of one key.
type commonAttr struct {
	get  func(c *Common) (v Attr, set bool)
	fits func(v Attr) bool            // v is of the field's type, or nil for its zero value
	same func(c *Common, v Attr) bool // writing v would change nothing
	set  func(c *Common, v Attr)
}

var commonAttrs = map[AttrKey]commonAttr{
	KeySharding:           pointerAttr(func(c *Common) **Sharding { return &c.Sharding }),
	KeyFrontendAttributes: pointerAttr(func(c *Common) **FrontendAttributes { return &c.FrontendAttributes }),
	KeyStatistics:         pointerAttr(func(c *Common) **Statistics { return &c.Statistics }),
	KeyResultAccuracy:     pointerAttr(func(c *Common) **ResultAccuracy { return &c.ResultAccuracy }),
	KeyOrigin:             pointerAttr(func(c *Common) **Origin { return &c.Origin }),
	KeyMetadata:           pointerAttr(func(c *Common) **Metadata { return &c.Metadata }),
	KeyBackendConfig: fieldAttr(func(c *Common) *string { return &c.BackendConfig },
		func(a, b string) bool { return a == b }),
	KeyParameterReplication: fieldAttr(func(c *Common) *[]bool { return &c.ParameterReplication }, slices.Equal[[]bool]),
}

func pointerAttr[T any](at func(*Common) **T) commonAttr {
	return fieldAttr(at, func(a, b *T) bool { return a == b || a != nil && b != nil && EqualAttr(a, b) })
}

func fieldAttr[T any](at func(*Common) *T, equal func(a, b T) bool) commonAttr {
	value := func(v Attr) (x T) {
		x, _ = v.(T)
		return x
	}
	return commonAttr{
		get: func(c *Common) (Attr, bool) {
			var zero T
			if equal(*at(c), zero) {
				return nil, false
			}
			return *at(c), true
		},
		fits: func(v Attr) bool { _, ok := v.(T); return ok || v == nil },
		same: func(c *Common, v Attr) bool { return equal(*at(c), value(v)) },
		set:  func(c *Common, v Attr) { *at(c) = value(v) },
	}
}

// commonByKey returns the attribute when it is set.
func commonByKey(c *Common, key AttrKey) (Attr, bool) {
	if c == nil {
		return nil, false
	}
	if a, ok := commonAttrs[key]; ok {
		return a.get(c)
	}
	for _, u := range c.Unknown {
		if u.Key == string(key) {
			return u.Text, true
		}
	}
	return nil, false
}

// findCommon returns what can be done under key, or why v cannot be written there.
func findCommon(key AttrKey, v Attr) (commonAttr, error) {
	a, ok := commonAttrs[key]
	switch {
	case !ok:
		return a, fmt.Errorf("no attribute %q", key)
	case !a.fits(v):
		return a, fmt.Errorf("attribute %s cannot be a %T", key, v)
	}
	return a, nil
}

var noCommon Common

const commonBytes = 112 // of the allocator's size class

// equalCommon reports whether two sets are equal; nil equals a set without attributes. Shared parts are not looked into.
func equalCommon(a, b *Common) bool {
	if a == b {
		return true
	}
	if a == nil {
		a = &noCommon
	}
	if b == nil {
		b = &noCommon
	}
	if a.Metadata != nil && b.Metadata != nil && a.Metadata.OpName != b.Metadata.OpName {
		return false // as it is most often, and soon seen
	}
	return EqualAttr(a, b)
}
