package mlir

// Location is where an operation comes from: a place in a file, a name around a location, a call, or several locations in one. nil is
// unknown.
type Location struct {
	Name  string // of a name location
	Child *Location

	File                       string // of a place in a file
	Line, Col, EndLine, EndCol int32

	Caller *Location // of a call: Child is the callee

	Fused []*Location // of several
}

// maxChain bounds walks through locations, which files may nest as deep as they like.
const maxChain = 10000

// OpName is the outermost name of a location.
func (l *Location) OpName() string {
	for range maxChain {
		switch {
		case l == nil || l.File != "":
			return ""
		case l.Name != "":
			return l.Name
		case l.Fused != nil:
			l = l.Fused[0]
		default:
			l = l.Child
		}
	}
	return ""
}

// Place is the innermost place in a file: through names to their child, through calls to the callee, through several to the first. nil
// when there is none.
func (l *Location) Place() *Location {
	for range maxChain {
		switch {
		case l == nil || l.File != "":
			return l
		case l.Fused != nil:
			l = l.Fused[0]
		default:
			l = l.Child
		}
	}
	return nil
}
