package stack

import (
	"fmt"
	"runtime/debug"
)

// Panic is a panic that a boundary caught and made an error of. It is a bug of what runs inside.
type Panic struct {
	Value any
	Stack []byte
}

// Caught makes an error of a value that was recovered; it is called in the deferred function itself, for the stack.
func Caught(value any) *Panic { return &Panic{Value: value, Stack: debug.Stack()} }

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Unwrap is the value, if that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}
