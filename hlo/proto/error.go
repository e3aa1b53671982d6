package proto

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A FormatError says where bytes are not what they should be.
type FormatError struct {
	Where string // path of fields: "computations[2].instructions[0].shape"
	Msg   string
	// Rule is the id of the verifier's rule that the module breaks, "" when the fault is one of form only.
	Rule string
}

func (e *FormatError) Error() string {
	if e.Where == "" {
		return "malformed HLO proto: " + e.Msg
	}
	return "malformed HLO proto: " + e.Where + ": " + e.Msg
}

func errorf(format string, args ...any) error { return ruleErrorf("", format, args...) }

// ruleErrorf is errorf for what breaks a rule of the verifier.
func ruleErrorf(rule, format string, args ...any) error {
	const enough = 1000 // for a message, which may list what is a million long
	msg := fmt.Sprintf(format, args...)
	if len(msg) > enough {
		msg = strings.ToValidUTF8(msg[:enough], "") + "…"
	}
	return &FormatError{Msg: msg, Rule: rule}
}

// wireError is the error that a negative length of protowire stands for, without the prefix, which varies from build to build.
func wireError(n int) error {
	err := protowire.ParseError(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errorf("it is cut short")
	}
	return errorf("%s", strings.TrimSpace(strings.TrimPrefix(err.Error(), "proto:")))
}

// within puts a field in front of the path of a FormatError.
func within(err error, where string) error {
	if e, ok := err.(*FormatError); ok {
		if e.Where != "" && e.Where[0] != '[' {
			where += "."
		}
		e.Where = where + e.Where
	}
	return err
}

func at(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
