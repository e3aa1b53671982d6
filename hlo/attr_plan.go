package hlo

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"
)

// attrPlan is what the tags of an attribute struct say, worked out once, and where its fields lie: comparing and hashing attributes
// happens for every instruction and is too frequent for reflection.
type attrPlan struct {
	fields []AttrField
	cells  []attrCell // all fields that count, the hidden ones last
	hash   uint64     // of the name of the struct
	// defaults is a pointer to a struct with the defaults of its tags, or nil if all of them are zero.
	defaults OpAttrs
}

// attrCell is a field in memory.
type attrCell struct {
	offset uintptr
	kind   cellKind
	typ    reflect.Type
}

// cellKind distinguishes the fields that are read without reflection.
type cellKind uint8

const (
	cellOther cellKind = iota
	cellInt64
	cellByte // bool, and enumerations of a byte
	cellInts
	cellLiteral
)

// attrPlans holds the plans found so far, by the word that stands for the struct in an interface.
var attrPlans atomic.Pointer[map[unsafe.Pointer]*attrPlan]

// attrWords is an OpAttrs in memory: the word for its type, and the address of the struct.
func attrWords(a *OpAttrs) *[2]unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(a)) }

// attrMemory is the address of the struct behind a, which must not be nil.
func attrMemory(a OpAttrs) unsafe.Pointer { return attrWords(&a)[1] }

func attrPlanOf(a OpAttrs) *attrPlan {
	word := attrWords(&a)[0]
	if all := attrPlans.Load(); all != nil {
		if p := (*all)[word]; p != nil {
			return p
		}
	}
	p := makeAttrPlan(reflect.TypeOf(a).Elem())
	for {
		old := attrPlans.Load()
		all := make(map[unsafe.Pointer]*attrPlan)
		if old != nil {
			if q := (*old)[word]; q != nil {
				return q
			}
			maps.Copy(all, *old)
		}
		all[word] = p
		if attrPlans.CompareAndSwap(old, &all) {
			return p
		}
	}
}

func makeAttrPlan(t reflect.Type) *attrPlan {
	h := newHasher(16)
	h.string(t.Name())
	p := &attrPlan{hash: h.sum64()}
	var hidden []attrCell
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("hlo")
		if !ok {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" {
			hidden = append(hidden, makeCell(f))
			continue
		}
		field := AttrField{Key: AttrKey(name), Index: i, Type: f.Type}
		for opt := range strings.SplitSeq(options, ",") {
			key, val, _ := strings.Cut(opt, "=")
			switch key {
			case "":
			case "required":
				field.Required = true
			case "omitzero":
				field.OmitZero = true
			case "always":
				field.Always = true
			case "single":
				field.Single, field.Rule = true, val
			case "fold":
				field.Fold = true
			case "inputonly":
				field.InputOnly = true
			case "default":
				field.Default = parseDefault(f.Type, val)
			default:
				panic("hlo: unknown option " + opt + " on attribute " + name)
			}
		}
		p.fields = append(p.fields, field)
		p.cells = append(p.cells, makeCell(f))
	}
	p.cells = append(p.cells, hidden...)
	p.defaults = p.withDefaults(t)
	return p
}

func makeCell(f reflect.StructField) attrCell {
	c := attrCell{f.Offset, cellOther, f.Type}
	switch k := f.Type.Kind(); {
	case k == reflect.Int64:
		c.kind = cellInt64
	case k == reflect.Bool, k == reflect.Uint8, k == reflect.Int8:
		c.kind = cellByte
	case f.Type == reflect.TypeFor[[]int64]():
		c.kind = cellInts
	case f.Type == literalType:
		c.kind = cellLiteral
	}
	return c
}

// equal compares the field in the structs at x and y.
func (c *attrCell) equal(x, y unsafe.Pointer) bool {
	x, y = unsafe.Add(x, c.offset), unsafe.Add(y, c.offset)
	switch c.kind {
	case cellInt64:
		return *(*int64)(x) == *(*int64)(y)
	case cellByte:
		return *(*uint8)(x) == *(*uint8)(y)
	case cellInts:
		return slices.Equal(*(*[]int64)(x), *(*[]int64)(y))
	case cellLiteral:
		return (*(**Literal)(x)).Equal(*(**Literal)(y))
	}
	return equalAttrValue(reflect.NewAt(c.typ, x).Elem(), reflect.NewAt(c.typ, y).Elem())
}

// parseDefault reads the default of a tag; the tags are ours, so a bad one is a broken promise.
func parseDefault(t reflect.Type, text string) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Int64, reflect.Int32:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			panic("hlo: bad default " + text)
		}
		v.SetInt(n)
	case reflect.String:
		v.SetString(text)
	default:
		panic("hlo: no default for type " + t.String())
	}
	return v
}

// withDefaults makes a struct with the defaults of its tags, or returns nil if there are none.
func (p *attrPlan) withDefaults(t reflect.Type) OpAttrs {
	var v reflect.Value
	for _, f := range p.fields {
		if f.Default.IsValid() {
			if !v.IsValid() {
				v = reflect.New(t)
			}
			v.Elem().Field(f.Index).Set(f.Default)
		}
	}
	if !v.IsValid() {
		return nil
	}
	return v.Interface().(OpAttrs)
}
