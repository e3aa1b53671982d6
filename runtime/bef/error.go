package bef

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatError says where and how bytes are not a valid BEF file, or why a File
// cannot be written as one.
type FormatError struct {
	Section SectionID
	// InSection is false for what concerns the file as a whole.
	InSection bool
	// Offset is counted from the start of the file; -1 if there is no such place.
	Offset int64
	// Value is the number at fault, where there is one.
	Value uint64
	Msg   string
}

func (e *FormatError) Error() string {
	var b strings.Builder
	b.WriteString("bef: ")
	if e.InSection {
		fmt.Fprintf(&b, "%v section: ", e.Section)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, "offset %#x: ", e.Offset)
	}
	b.WriteString(e.Msg)
	return b.String()
}

// fail makes an error without a place; the caller that knows it adds it.
func fail(sec SectionID, value uint64, format string, args ...any) *FormatError {
	return &FormatError{Section: sec, InSection: true, Offset: -1, Value: value, Msg: fmt.Sprintf(format, args...)}
}

// quoteName names a function for a message.
func quoteName(id int, name string) string {
	if name == "" {
		return utoa(id)
	}
	return strconv.Quote(name)
}

func utoa(n int) string { return strconv.Itoa(n) }
