// Package prototext translates messages of protocol buffers between their binary form and their text, by a schema that is text itself:
//
//	message Pair
//	1 string name
//	2 +int64 values
//	3 Kind kind
//	enum Kind
//	0 NONE
//	1 SOME
//
// A field is its number, its type and its name; + is a repeated one. Fields of the binary form that the schema does not have are left out of the text.
package prototext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxDepth bounds how deep messages nest.
const maxDepth = 1000

// Schema is messages and enumerations by name.
type Schema struct {
	messages map[string]*message
	enums    map[string]*enum
}

type message struct {
	name     string
	byNumber map[protowire.Number]*field
	byName   map[string]*field
}

type field struct {
	number   protowire.Number
	name     string
	repeated bool
	scalar   kind     // 0: a message or an enumeration
	message  *message // one of the two, else
	enum     *enum
}

type enum struct {
	names   map[int64]string
	numbers map[string]int64
}

// kind is how values of a type are written.
type kind struct {
	wire   protowire.Type
	signed bool
	text   form
}

type form uint8

const (
	integer form = iota + 1
	boolean
	float32s
	float64s
	quoted
)

// kinds are the types that are no messages. zigzag encodings do not occur.
var kinds = map[string]kind{
	"int32": {protowire.VarintType, true, integer}, "int64": {protowire.VarintType, true, integer},
	"uint32": {protowire.VarintType, false, integer}, "uint64": {protowire.VarintType, false, integer},
	"fixed32": {protowire.Fixed32Type, false, integer}, "fixed64": {protowire.Fixed64Type, false, integer},
	"bool": {protowire.VarintType, false, boolean}, "float": {protowire.Fixed32Type, true, float32s}, "double": {protowire.Fixed64Type, true, float64s},
	"string": {protowire.BytesType, false, quoted}, "bytes": {protowire.BytesType, false, quoted},
}

// packs reports whether several values of a field are written one behind the other.
func (f *field) packs() bool {
	return f.repeated && f.message == nil && (f.enum != nil || f.scalar.wire != protowire.BytesType)
}

// Parse reads a schema. Names of types may stand before what they name.
func Parse(text string) (*Schema, error) {
	s := &Schema{messages: map[string]*message{}, enums: map[string]*enum{}}
	types := map[*field]string{}
	var m *message
	var e *enum
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case len(words) == 2 && words[0] == "message":
			m, e = &message{name: words[1], byNumber: map[protowire.Number]*field{}, byName: map[string]*field{}}, nil
			s.messages[words[1]] = m
			continue
		case len(words) == 2 && words[0] == "enum":
			m, e = nil, &enum{names: map[int64]string{}, numbers: map[string]int64{}}
			s.enums[words[1]] = e
			continue
		}
		number, err := strconv.ParseInt(words[0], 10, 32)
		switch {
		case err == nil && e != nil && len(words) == 2:
			if _, ok := e.names[number]; !ok { // of two names the first
				e.names[number] = words[1]
			}
			e.numbers[words[1]] = number
		case err == nil && m != nil && len(words) == 3:
			f := &field{number: protowire.Number(number), name: words[2], repeated: words[1][0] == '+'}
			types[f] = strings.TrimPrefix(words[1], "+")
			m.byNumber[f.number], m.byName[f.name] = f, f
		default:
			return nil, fmt.Errorf("prototext: line %d of the schema: got %q, want message NAME, enum NAME, NUMBER TYPE NAME or NUMBER NAME", n, strings.TrimSpace(line))
		}
	}
	for f, t := range types {
		var ok bool
		if f.scalar, ok = kinds[t]; ok {
			continue
		}
		if f.enum, ok = s.enums[t]; ok {
			continue
		}
		if f.message, ok = s.messages[t]; !ok {
			return nil, fmt.Errorf("prototext: the schema has no type %s, which field %s is of", t, f.name)
		}
	}
	return s, nil
}

// Fields are the names of the fields of a message, sorted.
func (s *Schema) Fields(name string) (names []string) {
	if m := s.messages[name]; m != nil {
		for n := range m.byName {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}
