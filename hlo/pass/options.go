package pass

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Options are the parameters of a pass as text has them: `{limit=25 aggressive}`.
type Options []Option

// Option is one parameter; a flag has no value.
type Option struct {
	Key   string
	Value string
	List  List
}

// List is the items of a list in order; an item that is a list itself is its text, brackets and all: `[[u16,u32],[s16,s32]]`.
type List []string

// Sub is the items of item i, which is a list.
func (l List) Sub(i int) List {
	text, ok := strings.CutPrefix(l[i], "[")
	if !ok {
		return List{l[i]}
	}
	text = strings.TrimSuffix(text, "]")
	var items List
	depth, from := 0, 0
	for k, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth == 0:
			items, from = append(items, text[from:k]), k+1
		}
	}
	if from < len(text) {
		items = append(items, text[from:])
	}
	return items
}

// Text is the value of an option, or its list with the brackets, so that who wants one value refuses it.
func (o Option) Text() string {
	if o.List != nil {
		return "[" + strings.Join(o.List, ",") + "]"
	}
	return o.Value
}

// Text returns the value of an option, def when absent.
func (o Options) Text(key, def string) string {
	for _, opt := range o {
		if opt.Key == key {
			return opt.Text()
		}
	}
	return def
}

// FP returns the policy that the option fp names, [Exact] when absent.
func (o Options) FP() (FP, error) {
	policy, err := ParseFP(o.Text("fp", "strict"))
	if err != nil {
		return policy, fmt.Errorf("fp=%w", err)
	}
	return policy, nil
}

// List returns the items of an option: its list, or its one value. Absent is nil and false.
func (o Options) List(key string) (List, bool) {
	for _, opt := range o {
		if opt.Key != key {
			continue
		}
		if opt.List == nil && opt.Value != "" {
			return List{opt.Value}, true
		}
		return opt.List, true
	}
	return nil, false
}

// BoolOr returns the value of a flag, def when absent.
func (o Options) BoolOr(key string, def bool) (bool, error) {
	for _, opt := range o {
		if opt.Key == key {
			return o.Bool(key)
		}
	}
	return def, nil
}

// Bool returns the value of a flag; absent is false.
func (o Options) Bool(key string) (bool, error) {
	for _, opt := range o {
		if opt.Key == key {
			text := opt.Text()
			if text == "" {
				return true, nil
			}
			on, err := strconv.ParseBool(text)
			if err != nil {
				return false, fmt.Errorf("%s=%s: want true or false", key, text)
			}
			return on, nil
		}
	}
	return false, nil
}

// Int returns the value of a number, def when absent.
func (o Options) Int(key string, def int) (int, error) {
	for _, opt := range o {
		if opt.Key == key {
			n, err := strconv.Atoi(opt.Text())
			switch {
			case err != nil:
				return 0, fmt.Errorf("%s=%s: want an integer", key, opt.Text())
			case n < 0 && def >= 0:
				return 0, fmt.Errorf("%s=%d: want an integer from 0 on", key, n)
			}
			return n, nil
		}
	}
	return def, nil
}

// Float returns the value of a number that need not be whole, def when absent.
func (o Options) Float(key string, def float64) (float64, error) {
	for _, opt := range o {
		if opt.Key == key {
			x, err := strconv.ParseFloat(opt.Text(), 64)
			if err != nil {
				return 0, fmt.Errorf("%s=%s: want a number", key, opt.Text())
			}
			return x, nil
		}
	}
	return def, nil
}

// Known fails on an option that is not among keys, so that a misspelt one is not ignored.
func (o Options) Known(keys ...string) error {
	for _, opt := range o {
		if !slices.Contains(keys, opt.Key) {
			return fmt.Errorf("unknown option %q: want %s", opt.Key, strings.Join(keys, ", "))
		}
	}
	return nil
}

func (o Options) equal(other Options) bool {
	return slices.EqualFunc(o, other, func(a, b Option) bool {
		return a.Key == b.Key && a.Value == b.Value && slices.Equal(a.List, b.List)
	})
}

func (o Options) String() string {
	if len(o) == 0 {
		return ""
	}
	var b strings.Builder
	for i, opt := range o {
		b.WriteByte("{ "[min(i, 1)])
		b.WriteString(opt.Key)
		switch {
		case opt.List != nil:
			b.WriteByte('=')
			b.WriteString(opt.Text())
		case opt.Value != "":
			b.WriteByte('=')
			if wordOnly(opt.Value) {
				b.WriteString(opt.Value)
			} else {
				b.WriteString(strconv.Quote(opt.Value))
			}
		}
	}
	b.WriteByte('}')
	return b.String()
}

func wordOnly(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(wordChars, r) }) < 0
}
