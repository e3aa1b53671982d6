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

// withCommon returns a copy of c with one attribute replaced; c itself when that changes nothing.
func withCommon(c *Common, key AttrKey, v Attr) (*Common, error) {
	var d Common
	if c != nil {
		d = *c
	}
	ok := true
	switch p := commonField(&d, key).(type) {
	case **Sharding:
		ok = assign(p, v)
	case **FrontendAttributes:
		ok = assign(p, v)
	case **Statistics:
		ok = assign(p, v)
	case **ResultAccuracy:
		ok = assign(p, v)
	case **Origin:
		ok = assign(p, v)
	case **Metadata:
		ok = assign(p, v)
	case *string:
		ok = assign(p, v)
	case *[]bool:
		ok = assign(p, v)
	default:
		return nil, fmt.Errorf("no attribute %q", key)
	}
	if !ok {
		return nil, fmt.Errorf("attribute %s cannot be a %T", key, v)
	}
	if equalCommon(c, &d) {
		return c, nil
	}
	return &d, nil
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
