package pass

import "fmt"

// FP is what a rewrite may change in floating-point results. The zero value changes nothing.
type FP uint8

// The classes, from harmless to not.
const (
	Exact      FP = iota // the same bits for every input, but for the sign and payload of a NaN
	ZeroSign             // the sign of a zero
	Rounding             // the last bits
	Overflow             // results become infinite, or zero, or no longer do
	NotANumber           // NaN and infinities become ordinary values, or back
	FastMath             // anything that holds for real numbers
)

var fpNames = [...]string{"exact", "zero sign", "rounding", "overflow", "NaN", "fast math"}

func (f FP) String() string { return fpNames[f] }

// ParseFP reads the name of a policy: strict, xla (what XLA's own simplifier does) or fast.
func ParseFP(policy string) (FP, error) {
	switch policy {
	case "strict":
		return Exact, nil
	case "xla":
		return NotANumber, nil
	case "fast":
		return FastMath, nil
	}
	return Exact, fmt.Errorf("%s: want strict, xla or fast", policy)
}

// Policy is the name of the narrowest policy that allows the class.
func (f FP) Policy() string {
	switch {
	case f == Exact:
		return "strict"
	case f <= NotANumber:
		return "xla"
	}
	return "fast"
}
