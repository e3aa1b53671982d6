package hlo

import (
	"strconv"
	"strings"
	"time"
)

// Targets of custom calls that are test instruments: their result is their operand, and they take a time that the program chooses. So a
// program as text can show what overlaps with what.
const (
	TargetSleep = "halo.sleep" // waits, and holds no thread
	TargetSpin  = "halo.spin"  // keeps its thread busy
)

// Instrument is how long a test instrument takes: its backend configuration, in microseconds. It reports false for any other instruction,
// and for a configuration that is not a number of microseconds up to an hour.
func Instrument(in Instruction) (time.Duration, bool) {
	if in.Opcode() != OpCustomCall {
		return 0, false
	}
	if t := AttrsOf[CustomCallAttrs](in).Target; t != TargetSleep && t != TargetSpin {
		return 0, false
	}
	c := in.Common()
	if c == nil {
		return 0, false
	}
	us, err := strconv.ParseInt(strings.TrimSpace(c.BackendConfig), 10, 64)
	if err != nil || us < 0 || us > int64(time.Hour/time.Microsecond) {
		return 0, false
	}
	return time.Duration(us) * time.Microsecond, true
}
