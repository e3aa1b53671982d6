package hlo

import (
	"fmt"
	"reflect"
)

// OpAttrs is an op's own attributes: a pointer to one of the structs of attr_ops.go. The struct is immutable once it belongs to an
// instruction, and may be shared by many.
//
// The tag `hlo:"name,option,..."` of a field gives the HLO spelling and how the attribute reads and prints; fields print in order:
//
//	required    the reader demands it
//	omitzero    not printed when it has the zero value
//	default=V   value when absent; not printed when it has it
//	always      with default=V: printed even then
//	single      an int list of exactly one entry; single=RULE names the rule that another number breaks
//	fold        an enumeration whose case does not matter
//	inputonly   read, checked and not printed
//	-           not an attribute in text (parameter number, literal)
type OpAttrs interface{ opAttrs() }

// attrsTag makes a struct an OpAttrs when its pointer is taken.
type attrsTag struct{}

func (*attrsTag) opAttrs() {}

// AttrKey is the HLO spelling of an attribute: "dimensions", "sharding".
type AttrKey string

// Attr is the value of an attribute; its type is the type of the struct field.
type Attr any

// AttrsOf returns a copy of the instruction's own attributes as T, and the zero T when they are of another type.
// Slices in it are shared with the instruction and must not be written.
func AttrsOf[T any](in Instruction) T {
	if p, ok := any(in.Attrs()).(*T); ok && p != nil {
		return *p
	}
	var zero T
	return zero
}

// AttrField describes one attribute of an attribute struct.
type AttrField struct {
	Key                                      AttrKey
	Index                                    int // of the struct field
	Type                                     reflect.Type
	Required, OmitZero, Always, Single, Fold bool
	InputOnly                                bool
	Rule                                     string        // that a list of another length than one breaks, if it is Single
	Default                                  reflect.Value // invalid: the zero value
}

// AttrFields returns the attributes of a's struct in print order. The slice is shared and must not be written.
func AttrFields(a OpAttrs) []AttrField {
	if a == nil {
		return nil
	}
	return attrPlanOf(a).fields
}

// Value returns the field's value in a.
func (f *AttrField) Value(a OpAttrs) reflect.Value { return reflect.ValueOf(a).Elem().Field(f.Index) }

// Prints reports whether the attribute is written for value v.
func (f *AttrField) Prints(v reflect.Value) bool {
	switch {
	case f.InputOnly:
		return false
	case f.Always:
		return true
	case f.Default.IsValid():
		return !v.Equal(f.Default)
	case f.OmitZero:
		return !isZeroAttr(v)
	}
	return true
}

// isZeroAttr treats an empty slice like a nil one.
func isZeroAttr(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}

// EqualAttrs reports whether two attribute structs are of one type and equal in every field; empty and nil lists are equal.
func EqualAttrs(a, b OpAttrs) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	p := attrPlanOf(a)
	if p != attrPlanOf(b) {
		return false
	}
	x, y := attrMemory(a), attrMemory(b)
	for i := range p.cells {
		if !p.cells[i].equal(x, y) {
			return false
		}
	}
	return true
}

func equalAttrValue(a, b reflect.Value) bool {
	switch a.Type() { // not a type switch on Interface(), which would allocate for every field
	case shapeType:
		return a.Interface().(Shape).Equal(b.Interface().(Shape))
	case literalType:
		return a.Interface().(*Literal).Equal(b.Interface().(*Literal))
	}
	switch a.Kind() {
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equalAttrValue(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		if a.Pointer() == b.Pointer() {
			return true
		}
		return !a.IsNil() && !b.IsNil() && equalAttrValue(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Field(i); f.CanInterface() && !equalAttrValue(f, b.Field(i)) { // it is exported
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// EqualAttr reports whether two attribute values of any supported type are equal.
func EqualAttr(a, b Attr) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	if !va.IsValid() || !vb.IsValid() {
		return va.IsValid() == vb.IsValid()
	}
	return va.Type() == vb.Type() && equalAttrValue(va, vb)
}

// attrField finds the attribute spelled key in a's struct; nil when there is none.
func attrField(a OpAttrs, key AttrKey) *AttrField {
	fields := AttrFields(a)
	for i := range fields {
		if fields[i].Key == key {
			return &fields[i]
		}
	}
	return nil
}

// attrByKey returns the value of the attribute spelled key, if a's struct has one.
func attrByKey(a OpAttrs, key AttrKey) (Attr, bool) {
	if f := attrField(a, key); f != nil {
		return f.Value(a).Interface(), true
	}
	return nil, false
}

// accept turns v into a value for the field; nil is the zero value.
func (f *AttrField) accept(v Attr) (reflect.Value, error) {
	val := reflect.ValueOf(v)
	switch {
	case !val.IsValid():
		return reflect.Zero(f.Type), nil
	case !val.Type().AssignableTo(f.Type):
		return val, fmt.Errorf("attribute %s is a %v, got a %v", f.Key, f.Type, val.Type())
	}
	return val, nil
}

// cloneAttrs returns a shallow copy of a.
func cloneAttrs(a OpAttrs) OpAttrs {
	c := reflect.New(reflect.TypeOf(a).Elem())
	c.Elem().Set(reflect.ValueOf(a).Elem())
	return c.Interface().(OpAttrs)
}

// attrsBytes is the size of the struct behind a.
func attrsBytes(a OpAttrs) int { return int(reflect.TypeOf(a).Elem().Size()) }
