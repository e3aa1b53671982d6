//go:build unix

package attack

import (
	"reflect"

	"github.com/gohalo/halo/hlo"
)

// attribute changes a number, a flag or a list of an instruction's attributes.
func (s *structured) attribute() bool {
	c, in := s.any()
	switch in.Attrs().(type) {
	case nil, *hlo.ConstantAttrs, *hlo.ParameterAttrs:
		return false
	}
	v := reflect.ValueOf(in.Attrs())
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return false
	}
	clone := deepCopy(v)
	var slots []reflect.Value
	collect(clone.Elem(), &slots)
	if len(slots) == 0 {
		return false
	}
	s.change(slots[s.rng.IntN(len(slots))])
	c.Edit(in).SetAttrs(clone.Interface().(hlo.OpAttrs))
	return true
}

// deepCopy copies what attributes are made of.
func deepCopy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Elem().Kind() != reflect.Struct || v.Type() == reflect.TypeFor[*hlo.Literal]() {
			return v
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(v.Elem())
		for i := range p.Elem().NumField() {
			if f := p.Elem().Field(i); f.CanSet() {
				f.Set(deepCopy(f))
			}
		}
		return p
	case reflect.Struct:
		p := reflect.New(v.Type()).Elem()
		p.Set(v)
		for i := range p.NumField() {
			if f := p.Field(i); f.CanSet() {
				f.Set(deepCopy(f))
			}
		}
		return p
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		p := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			p.Index(i).Set(deepCopy(v.Index(i)))
		}
		return p
	}
	return v
}

// collect lists the parts of attributes that can be changed.
func collect(v reflect.Value, slots *[]reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct && v.Type() != reflect.TypeFor[*hlo.Literal]() {
			collect(v.Elem(), slots)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				collect(v.Field(i), slots)
			}
		}
	case reflect.Slice:
		*slots = append(*slots, v)
		for i := range v.Len() {
			collect(v.Index(i), slots)
		}
	case reflect.Bool, reflect.Int64, reflect.Int, reflect.Int32, reflect.Uint8, reflect.Float32:
		*slots = append(*slots, v)
	}
}

// change changes a part of attributes.
func (s *structured) change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float32:
		v.SetFloat([]float64{0, 1, -1, 0.5, 1e30}[s.rng.IntN(5)])
	case reflect.Int64, reflect.Int, reflect.Int32:
		v.SetInt(s.near(v.Int()))
	case reflect.Uint8: // enumerations; the reader refuses what has no name
		v.SetUint(uint64(max(0, int64(v.Uint())+int64(s.rng.IntN(5))-2)))
	case reflect.Slice:
		n := v.Len()
		switch s.rng.IntN(3) {
		case 0:
			if n > 1 {
				reflect.Swapper(v.Interface())(s.rng.IntN(n), s.rng.IntN(n))
			}
		case 1:
			if n > 0 {
				v.Set(reflect.AppendSlice(v.Slice(0, n-1).Slice3(0, n-1, n-1), v.Slice(n, n)))
			}
		case 2:
			extra := reflect.Zero(v.Type().Elem())
			if n > 0 {
				extra = v.Index(s.rng.IntN(n))
			}
			v.Set(reflect.Append(v, extra))
		}
	}
}

// near is another number like v, mostly small.
func (s *structured) near(v int64) int64 {
	switch s.rng.IntN(12) {
	case 0, 1, 2:
		return v + 1
	case 3, 4, 5:
		return v - 1
	case 6:
		return 2 * v
	case 7:
		return -v
	case 8:
		return number(s.rng, v)
	}
	return []int64{0, 1, 2, 3, 4, 5, 8, 16}[s.rng.IntN(8)]
}
