package mlir

// scope is the names of values. A name has one slot for as long as the text is read, and the slot says what the name stands for where the
// reader is. Most names are numbers, which are their own slots; the others are looked up.
type scope struct {
	numbers []slot
	named   []slot
	limit   int              // of the numbers that are slots
	names   map[string]int32 // index into named
	bound   []int32          // the slots in use, in the order in which they were bound: a number, or ^index into named
}

// slot is what a name stands for: the results of an operation, or one argument.
type slot struct {
	first *Value
	count int
	at    int // where it is defined, plus one; 0: it stands for nothing
}

// maxNumber bounds the names that are their own slots; a text whose numbers exceed its length has not used those before.
const maxNumber = 1 << 20

func newScope(text string) scope {
	return scope{limit: min(maxNumber, len(text)), names: make(map[string]int32)}
}

// number is the value of a name that is a number as numbers are written; -1 for others.
func (s *scope) number(name string) int {
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
	if n >= s.limit {
		return -1
	}
	return n
}

// find is the slot of a name and its number; nil when the name has none.
func (s *scope) find(name string) (*slot, int32) {
	if n := s.number(name); n >= 0 {
		if n >= len(s.numbers) {
			return nil, int32(n)
		}
		return &s.numbers[n], int32(n)
	}
	if i, ok := s.names[name]; ok {
		return &s.named[i], ^i
	}
	return nil, -1
}

// add makes the slot of a name that has none.
func (s *scope) add(name string, id int32) (*slot, int32) {
	if n := int(id); n >= 0 {
		s.numbers = append(s.numbers, make([]slot, max(64, 2*n+1)-len(s.numbers))...)
		return &s.numbers[n], id
	}
	i := int32(len(s.named))
	s.names[name] = i
	s.named = append(s.named, slot{})
	return &s.named[i], ^i
}

// mark is how far a scope has come; everything defined after it is forgotten by forget.
func (s *scope) mark() int { return len(s.bound) }

func (s *scope) forget(mark int) {
	for _, id := range s.bound[mark:] {
		if id >= 0 {
			s.numbers[id] = slot{}
		} else {
			s.named[^id] = slot{}
		}
	}
	s.bound = s.bound[:mark]
}

// define gives values a name: results of one operation that follow each other, or an argument.
func (r *reader) define(name string, values []Value, at int) {
	b, id := r.scope.find(name)
	if b == nil {
		b, id = r.scope.add(name, id)
	}
	if b.at != 0 {
		r.failAt(at, "%%%s is defined already, in line %d", name, r.src.Position(b.at-1).Line)
	}
	b.count, b.at = len(values), at+1
	if len(values) > 0 {
		b.first = &values[0]
	}
	r.scope.bound = append(r.scope.bound, id)
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
	b, _ := r.scope.find(name)
	if b == nil || b.at == 0 {
		r.failHint(at, "a value must be defined before it is used, in the same block or around it", "%%%s is not defined", name)
	}
	if n >= int64(b.count) {
		r.failAt(at, "%%%s has %d results, there is no number %d", name, b.count, n)
	}
	if n == 0 {
		return b.first
	}
	return &b.first.Def.Results[b.first.N+int(n)]
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
