package mlir

// scope is the names of values that are visible.
type scope struct {
	names    map[string]int32 // index into bindings
	bindings []binding
}

// binding is a name and what it stands for: the results of an operation, or one argument.
type binding struct {
	name   string
	values []Value
	at     int // where it is defined
}

// mark is how far a scope has come; everything defined after it is forgotten by forget.
func (s *scope) mark() int { return len(s.bindings) }

func (s *scope) forget(mark int) {
	for _, b := range s.bindings[mark:] {
		delete(s.names, b.name)
	}
	s.bindings = s.bindings[:mark]
}

// define gives values a name.
func (r *reader) define(name string, values []Value, at int) {
	if old, dup := r.scope.names[name]; dup {
		p := r.src.Position(r.scope.bindings[old].at)
		r.failAt(at, "%%%s is defined already, in line %d", name, p.Line)
	}
	r.scope.names[name] = int32(len(r.scope.bindings))
	r.scope.bindings = append(r.scope.bindings, binding{name, values, at})
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
	i, ok := r.scope.names[name]
	if !ok {
		r.failHint(at, "a value must be defined before it is used, in the same block or around it", "%%%s is not defined", name)
	}
	values := r.scope.bindings[i].values
	if n >= int64(len(values)) {
		r.failAt(at, "%%%s has %d results, there is no number %d", name, len(values), n)
	}
	return &values[n]
}

// usesUntil takes values with commas between them, perhaps none.
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
