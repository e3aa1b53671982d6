package pass

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// RemarkKind says what a remark is about.
type RemarkKind uint8

// The kinds, after LLVM's.
const (
	Analysis RemarkKind = iota // what the pass found out
	Passed                     // what it did
	Missed                     // what it would have done, had nothing kept it from it
)

var remarkNames = [...]string{"analysis", "passed", "missed"}

func (k RemarkKind) String() string { return remarkNames[k] }

// ParseRemarkKind reads the name of a kind.
func ParseRemarkKind(name string) (RemarkKind, error) {
	for k, n := range remarkNames {
		if n == name {
			return RemarkKind(k), nil
		}
	}
	return 0, fmt.Errorf("%q: want passed, missed or analysis", name)
}

// Remark is what a pass says about an instruction. It is for people: programs read statistics.
type Remark struct {
	Kind RemarkKind
	Pass string
	In   hlo.Instruction
	Text string
}

// Passed reports what the pass did to an instruction.
func (c *Context) Passed(in hlo.Instruction, format string, args ...any) {
	c.remark(Passed, in, format, args)
}

// Missed reports what kept the pass from doing something to an instruction.
func (c *Context) Missed(in hlo.Instruction, format string, args ...any) {
	c.remark(Missed, in, format, args)
}

// Remark reports what the pass found out about an instruction.
func (c *Context) Remark(in hlo.Instruction, format string, args ...any) {
	c.remark(Analysis, in, format, args)
}

// Remarks reports whether anybody reads remarks: for passes that would have to look for what to say.
func (c *Context) Remarks() bool {
	for _, i := range c.runner.Instruments {
		if i.Remark != nil {
			return true
		}
	}
	return false
}

func (c *Context) remark(k RemarkKind, in hlo.Instruction, format string, args []any) {
	if c.Remarks() {
		c.tell(event{remark: &Remark{k, c.pass, in, fmt.Sprintf(format, args...)}})
	}
}
