package commandline

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is a field as a value of pflag.
type value struct {
	field       reflect.Value
	enum        []string
	enumHint    string // for those who give another value
	whole       bool   // a list's values are not split at commas
	placeholder string
	valueless   string // the value of a flag that has none
	given       bool
}

func newValue(field reflect.Value, tag tags) *value {
	v := &value{field: field, whole: tag.Get("sep") == "none", placeholder: tag.Get("placeholder"), valueless: tag.Get("bare")}
	if enum, ok := tag.Lookup("enum"); ok {
		v.enum, v.enumHint = strings.Split(enum, ","), tag.Get("hint")
	}
	return v
}

// base is the field's type behind pointers.
func (v *value) base() reflect.Type {
	if t := v.field.Type(); t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return v.field.Type()
}

func (v *value) isBool() bool { return v.base().Kind() == reflect.Bool }

// bare is the value of a flag that has none, "" if it needs one.
func (v *value) bare() string {
	if v.isBool() {
		return "true"
	}
	return v.valueless
}

// Type is what the help calls the value.
func (v *value) Type() string {
	switch {
	case v.isBool():
		return "bool"
	case v.placeholder != "":
		return v.placeholder
	case v.field.Kind() == reflect.Slice:
		return "TEXT,..."
	}
	switch v.base().Kind() {
	case reflect.String:
		return "TEXT"
	default:
		return "N"
	}
}

func (v *value) String() string {
	if v == nil || !v.field.IsValid() {
		return ""
	}
	return fmt.Sprint(v.field)
}

// Set reads text into the field. A list gets longer; its first value takes the place of the default.
func (v *value) Set(text string) error {
	target := v.field
	values := []string{text}
	if target.Kind() == reflect.Slice && !v.whole {
		values = strings.Split(text, ",")
	}
	for _, text := range values {
		if v.enum != nil && !slices.Contains(v.enum, text) {
			hint := ""
			if v.enumHint != "" {
				hint = "; " + v.enumHint
			}
			return fmt.Errorf("want %s%s", choices(v.enum), hint)
		}
	}
	switch {
	case target.Kind() == reflect.Slice:
		if !v.given {
			target.SetZero()
		}
		target.Set(reflect.AppendSlice(target, reflect.ValueOf(values)))
	case target.Kind() == reflect.Pointer:
		p := reflect.New(target.Type().Elem())
		if err := set(p.Elem(), text); err != nil {
			return err
		}
		target.Set(p)
	default:
		if err := set(target, text); err != nil {
			return err
		}
	}
	v.given = true
	return nil
}

// set reads text into a variable that is no list and no pointer.
func set(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	if _, ok := v.Interface().(time.Duration); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("want a duration, as 10s or 1m30s")
		}
		v.SetInt(int64(d))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("want true or false")
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 0, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("want an integer")
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 0, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("want an integer, not negative")
		}
		v.SetUint(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("want a number")
		}
		v.SetFloat(x)
	default:
		panic(fmt.Sprintf("a flag of type %v", v.Type())) // the struct is at fault
	}
	return nil
}

// choices is a list of words with "or" before the last; the empty one, which stands for an absent flag, is left out.
func choices(words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// negated is --no-NAME.
type negated struct{ *value }

func (n negated) Set(text string) error {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("want true or false")
	}
	return n.value.Set(strconv.FormatBool(!b))
}
