package async

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code classifies a [Status].
type Code uint8

// The codes, with TFRT's own after the general ones. Internal is what a kernel
// reports unless it says otherwise.
const (
	OK Code = iota
	Cancelled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
	RPCCancelled
	RPCDeadlineExceeded
	RPCUnavailable
	RPCUnknown
	DeviceNotFound
	TaskNotFound
	RemoteFunctionAlreadyExists
	MalformattedMLIRFile
	CompilationFailed
	InvalidDistributedContextID
	DistributedContextAlreadyExists
)

var codeNames = [...]string{
	OK:                              "OK",
	Cancelled:                       "CANCELLED",
	Unknown:                         "UNKNOWN",
	InvalidArgument:                 "INVALID_ARGUMENT",
	DeadlineExceeded:                "DEADLINE_EXCEEDED",
	NotFound:                        "NOT_FOUND",
	AlreadyExists:                   "ALREADY_EXISTS",
	PermissionDenied:                "PERMISSION_DENIED",
	ResourceExhausted:               "RESOURCE_EXHAUSTED",
	FailedPrecondition:              "FAILED_PRECONDITION",
	Aborted:                         "ABORTED",
	OutOfRange:                      "OUT_OF_RANGE",
	Unimplemented:                   "UNIMPLEMENTED",
	Internal:                        "INTERNAL",
	Unavailable:                     "UNAVAILABLE",
	DataLoss:                        "DATA_LOSS",
	Unauthenticated:                 "UNAUTHENTICATED",
	RPCCancelled:                    "RPC_CANCELLED",
	RPCDeadlineExceeded:             "RPC_DEADLINE_EXCEEDED",
	RPCUnavailable:                  "RPC_UNAVAILABLE",
	RPCUnknown:                      "RPC_UNKNOWN",
	DeviceNotFound:                  "DEVICE_NOT_FOUND",
	TaskNotFound:                    "TASK_NOT_FOUND",
	RemoteFunctionAlreadyExists:     "REMOTE_FUNCTION_ALREADY_EXISTS",
	MalformattedMLIRFile:            "MALFORMATTED_MLIR_FILE",
	CompilationFailed:               "COMPILATION_FAILED",
	InvalidDistributedContextID:     "INVALID_DISTRIBUTED_CONTEXT_ID",
	DistributedContextAlreadyExists: "DISTRIBUTED_CONTEXT_ALREADY_EXISTS",
}

// String returns the code in its usual spelling, such as INVALID_ARGUMENT.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("CODE_%d", uint8(c))
}

// Location is a position in the source of a program. The zero Location is
// unknown; lines and columns count from 1.
type Location struct {
	File      string
	Line, Col int
}

// IsKnown reports whether l says anything.
func (l Location) IsKnown() bool { return l.File != "" || l.Line > 0 }

// String returns file:line:col, or the name alone of a location that has no
// line.
func (l Location) String() string {
	switch {
	case !l.IsKnown():
		return "unknown location"
	case l.Line == 0:
		return l.File
	}
	return fmt.Sprintf("%s:%d:%d", l.File, l.Line, l.Col)
}

// Status is the error of an asynchronous value. It is immutable once a value
// holds it, since every consumer sees the same one.
type Status struct {
	Code     Code
	Message  string
	Payload  []byte   // opaque detail for programs, may be nil
	Location Location // of the failing kernel, added by the executor
	Kernel   string   // name of the failing kernel, added by the executor
	Cause    error    // what the status was made from, may be nil
}

// Errorf returns a Status with a formatted message. As in fmt.Errorf, %w names
// the cause.
func Errorf(code Code, format string, args ...any) *Status {
	err := fmt.Errorf(format, args...)
	return &Status{Code: code, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// StatusOf returns err as a Status. A Status is returned as it is. Any other
// error becomes the cause of a new one, with the code and payload of a Status
// that it wraps, Cancelled or DeadlineExceeded for the errors of package
// context, and otherwise Internal.
func StatusOf(err error) *Status {
	switch e := err.(type) {
	case nil:
		return &Status{Code: Internal, Message: "failure without an error"}
	case *Status:
		if e == nil {
			return StatusOf(nil)
		}
		return e
	}
	st := &Status{Code: Internal, Message: err.Error(), Cause: err}
	var inner *Status
	switch {
	case errors.As(err, &inner) && inner != nil:
		st.Code, st.Payload = inner.Code, inner.Payload
	case errors.Is(err, context.Canceled):
		st.Code = Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		st.Code = DeadlineExceeded
	}
	return st
}

// At returns a copy of s with the kernel and location filled in where s does
// not have them yet.
func (s *Status) At(kernel string, loc Location) *Status {
	t := *s
	if t.Kernel == "" {
		t.Kernel = kernel
	}
	if !t.Location.IsKnown() {
		t.Location = loc
	}
	return &t
}

// Error returns "file:line:col: kernel: message" with the parts that are
// known.
func (s *Status) Error() string {
	var b strings.Builder
	if s.Location.IsKnown() {
		b.WriteString(s.Location.String())
		b.WriteString(": ")
	}
	if s.Kernel != "" {
		b.WriteString(s.Kernel)
		b.WriteString(": ")
	}
	if s.Message == "" {
		b.WriteString(s.Code.String())
	} else {
		b.WriteString(s.Message)
	}
	return b.String()
}

// Unwrap returns the cause.
func (s *Status) Unwrap() error { return s.Cause }

// Is makes errors.Is(err, context.Canceled) and the like true for the codes
// that stand for them.
func (s *Status) Is(target error) bool {
	switch target {
	case context.Canceled:
		return s.Code == Cancelled
	case context.DeadlineExceeded:
		return s.Code == DeadlineExceeded
	}
	return false
}
