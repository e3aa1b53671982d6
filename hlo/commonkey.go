package hlo

import "fmt"

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

// commonField returns the address of the field of c that key names.
func commonField(c *Common, key AttrKey) any {
	switch key {
	case KeySharding:
		return &c.Sharding
	case KeyFrontendAttributes:
		return &c.FrontendAttributes
	case KeyStatistics:
		return &c.Statistics
	case KeyResultAccuracy:
		return &c.ResultAccuracy
	case KeyOrigin:
		return &c.Origin
	case KeyMetadata:
		return &c.Metadata
	case KeyBackendConfig:
		return &c.BackendConfig
	case KeyParameterReplication:
		return &c.ParameterReplication
	}
	return nil
}

// commonByKey returns the attribute when it is set.
func commonByKey(c *Common, key AttrKey) (Attr, bool) {
	if c == nil {
		return nil, false
	}
	switch p := commonField(c, key).(type) {
	case **Sharding:
		return *p, *p != nil
	case **FrontendAttributes:
		return *p, *p != nil
	case **Statistics:
		return *p, *p != nil
	case **ResultAccuracy:
		return *p, *p != nil
	case **Origin:
		return *p, *p != nil
	case **Metadata:
		return *p, *p != nil
	case *string:
		return *p, *p != ""
	case *[]bool:
		return *p, *p != nil
	}
	for _, u := range c.Unknown {
		if u.Key == string(key) {
			return u.Text, true
		}
	}
	return nil, false
}

// setCommon writes one attribute into c, and reports whether the key exists and the value is of its type. A nil value means the zero
// value.
func setCommon(c *Common, key AttrKey, v Attr) (known, fits bool) {
	switch p := commonField(c, key).(type) {
	case **Sharding:
		return true, assign(p, v)
	case **FrontendAttributes:
		return true, assign(p, v)
	case **Statistics:
		return true, assign(p, v)
	case **ResultAccuracy:
		return true, assign(p, v)
	case **Origin:
		return true, assign(p, v)
	case **Metadata:
		return true, assign(p, v)
	case *string:
		return true, assign(p, v)
	case *[]bool:
		return true, assign(p, v)
	}
	return false, false
}

// checkCommon reports whether writing v under key changes what c says, or why it cannot be written.
func checkCommon(c *Common, key AttrKey, v Attr) (changes bool, err error) {
	var d Common
	known, fits := setCommon(&d, key, v)
	switch {
	case !known:
		return false, fmt.Errorf("no attribute %q", key)
	case !fits:
		return false, fmt.Errorf("attribute %s cannot be a %T", key, v)
	}
	if c == nil {
		c = &noCommon
	}
	old, had := commonByKey(c, key)
	now, has := commonByKey(&d, key)
	return had != has || has && !EqualAttr(old, now), nil
}

func assign[T any](p *T, v Attr) bool {
	if v == nil {
		var zero T
		*p = zero
		return true
	}
	x, ok := v.(T)
	if ok {
		*p = x
	}
	return ok
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
	return EqualAttr(a, b)
}
