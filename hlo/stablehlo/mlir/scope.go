package mlir

// scope is the names of values. A name has one slot for as long as the text is read, and the slot says what the name stands for where the
// reader is. Names are numbers, or words with numbers at their ends, counted up: %0, %arg3, %cst_12. Those of one word are a family, whose
// slots are found by number; others are looked up.
type scope struct {
	limit    int // of numbers that have slots of their own
	families []family
	others   map[string]*slot
	bound    []*slot // those in use, in the order in which they were bound
}

// family is the names that differ only in their numbers.
type family struct {
	word  string
	pages []*[pageSize]slot // by place in the family
}

// slot is what a name stands for: the results of an operation, or one argument.
type slot struct {
	first *Value
	count int
	at    int // where it is defined, plus one; 0: it stands for nothing
}

const (
	pageSize    = 64
	maxFamilies = 16 // they are searched one by one
	valueText   = 32 // about how many bytes of text define a value
)

// newScope makes the scope of a text. Numbers may leave gaps, since those in regions come last, but not so large ones that slots take much
// more memory than the text.
func newScope(text string) scope { return scope{limit: pageSize + len(text)/valueText} }

// split cuts a name into a word and its place in the family of the word: 0 without a number at the end that is written as numbers are,
// else the number plus one.
func split(name string) (word string, n int) {
	i := len(name)
	for i > 0 && class[name[i-1]]&digit != 0 {
		i--
	}
	digits := name[i:]
	if len(digits) == 0 || len(digits) > 8 || digits[0] == '0' && len(digits) > 1 {
		return name, 0
	}
	for _, d := range []byte(digits) {
		n = 10*n + int(d-'0')
	}
	return name[:i], n + 1
}

// slot is the slot of a name, which it gets now if it had none.
func (s *scope) slot(name string) *slot {
	word, n := split(name)
	f := s.family(word)
	if f == nil || n >= s.limit {
		return s.other(name)
	}
	page := n / pageSize
	if page >= len(f.pages) {
		f.pages = append(f.pages, make([]*[pageSize]slot, page+1-len(f.pages))...)
	}
	if f.pages[page] == nil {
		f.pages[page] = new([pageSize]slot)
	}
	return &f.pages[page][n%pageSize]
}

// family is the family of a word; nil when there are too many.
func (s *scope) family(word string) *family {
	for i := range s.families {
		if s.families[i].word == word {
			return &s.families[i]
		}
	}
	if len(s.families) == maxFamilies {
		return nil
	}
	s.families = append(s.families, family{word: word})
	return &s.families[len(s.families)-1]
}

// other is the slot of a name that is looked up.
func (s *scope) other(name string) *slot {
	b := s.others[name]
	if b == nil {
		if s.others == nil {
			s.others = make(map[string]*slot)
		}
		b = new(slot)
		s.others[name] = b
	}
	return b
}

// mark is how far a scope has come; everything defined after it is forgotten by forget.
func (s *scope) mark() int { return len(s.bound) }

func (s *scope) forget(mark int) {
	for _, b := range s.bound[mark:] {
		*b = slot{}
	}
	s.bound = s.bound[:mark]
}

// define gives values a name: results of one operation that follow each other, or an argument.
func (r *reader) define(name string, values []Value, at int) {
	b := r.scope.slot(name)
	if b.at != 0 {
		r.failAt(at, "%%%s is defined already, in line %d", name, r.src.Position(b.at-1).Line)
	}
	b.count, b.at = len(values), at+1
	if len(values) > 0 {
		b.first = &values[0]
	}
	r.scope.bound = append(r.scope.bound, b)
}

// use takes the name of a value, with the number of a result perhaps, and finds the value.
func (r *reader) use() *Value {
	r.space()
	at := r.pos
	if at >= len(r.text) || r.text[at] != '%' {
		r.fail("expected a value, got %s", r.next())
	}
	r.pos++
	name := r.suffix("value")
	n := int64(0)
	if r.pos < len(r.text) && r.text[r.pos] == '#' {
		r.pos++
		n = r.natural()
	}
	b := r.scope.slot(name)
	if b.at == 0 {
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
