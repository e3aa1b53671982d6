package mlir

// scope is the names of values that are visible. Most names are numbers, which are looked up without hashing.
type scope struct {
	names    map[string]int32 // index into bindings
	numbers  []int32          // by number: index into bindings, plus one; 0: none
	bindings []binding
}

// binding is a name and what it stands for: the results of an operation, or one argument.
type binding struct {
	name   string
	values []Value
	at     int // where it is defined
}

// maxNumber bounds the names that are looked up by number.
const maxNumber = 1 << 20

// number is the value of a name that is a number as numbers are written; -1 for others.
func number(name string) int {
	if len(name) > 7 || name[0] == '0' && len(name) > 1 {
		return -1
	}
	n := 0
	for i := range len(name) {
		d := name[i] - '0'
		if d > 9 {
			return -1
		}
		n = 10*n + int(d)
	}
	if n >= maxNumber {
		return -1
	}
	return n
}

// find is the binding of a name, nil without one.
func (s *scope) find(name string) *binding {
	if n := number(name); n >= 0 {
		if n >= len(s.numbers) || s.numbers[n] == 0 {
			return nil
		}
		return &s.bindings[s.numbers[n]-1]
	}
	if i, ok := s.names[name]; ok {
		return &s.bindings[i]
	}
	return nil
}

// mark is how far a scope has come; everything defined after it is forgotten by forget.
func (s *scope) mark() int { return len(s.bindings) }

func (s *scope) forget(mark int) {
	for _, b := range s.bindings[mark:] {
		if n := number(b.name); n >= 0 {
			s.numbers[n] = 0
		} else if mark > 0 {
			delete(s.names, b.name)
		}
	}
	if mark == 0 {
		clear(s.names)
	}
	clear(s.bindings[mark:])
	s.bindings = s.bindings[:mark]
}

// define gives values a name.
func (r *reader) define(name string, values []Value, at int) {
	s := &r.scope
	i := int32(len(s.bindings))
	var old *binding
	if n := number(name); n >= 0 {
		if n >= len(s.numbers) {
			s.numbers = append(s.numbers, make([]int32, n+1-len(s.numbers)+n/2)...)
		}
		if k := s.numbers[n]; k != 0 {
			old = &s.bindings[k-1]
		}
		s.numbers[n] = i + 1
	} else {
		if k, dup := s.names[name]; dup {
			old = &s.bindings[k]
		}
		s.names[name] = i
	}
	if old != nil {
		r.failAt(at, "%%%s is defined already, in line %d", name, r.src.Position(old.at).Line)
	}
	s.bindings = append(s.bindings, binding{name, values, at})
}

// use takes the name of a value, with the number of a result perhaps, and finds the value.
func (r *reader) use() *Value {
	r.space()
	at := r.pos
	if !r.accept("%") {
		r.fail("expected a value, got %s", r.next())
	}
	name := r.suffix("value")
	n := int64(0)
	if r.pos < len(r.text) && r.text[r.pos] == '#' {
		r.pos++
		n = r.natural()
	}
	b := r.scope.find(name)
	if b == nil {
		r.failHint(at, "a value must be defined before it is used, in the same block or around it", "%%%s is not defined", name)
	}
	if n >= int64(len(b.values)) {
		r.failAt(at, "%%%s has %d results, there is no number %d", name, len(b.values), n)
	}
	return &b.values[n]
}

// useList takes values with commas between them, perhaps none.
func (r *reader) useList() []*Value {
	if r.peek() != '%' {
		return nil
	}
	var few [8]*Value
	list := few[:0]
	for {
		list = append(list, r.use())
		save := r.pos
		if !r.accept(",") {
			break
		}
		if r.peek() != '%' {
			r.pos = save
			break
		}
	}
	uses := cutOf(&r.uses, len(list))
	copy(uses, list)
	return uses
}
