package hlo

// Common holds the attributes that every instruction may have (hlo-text section 6). It is immutable and shared; a nil *Common has
// none of them.
type Common struct {
	Sharding           *Sharding
	FrontendAttributes *FrontendAttributes
	Statistics         *Statistics
	ResultAccuracy     *ResultAccuracy
	Origin             *Origin
	Metadata           *Metadata
	BackendConfig      string // the unescaped string, or the raw dictionary text
	// ParameterReplication has one flag per leaf of a parameter; nil when unset.
	ParameterReplication []bool
	// Unknown attributes kept verbatim by the lenient reader, in order of appearance.
	Unknown []UnknownAttr
}

// UnknownAttr is an attribute that halo does not know, as written: key=Text.
type UnknownAttr struct{ Key, Text string }

// FrontendAttributes is a set of string pairs sorted by key.
type FrontendAttributes struct{ Entries []FrontendAttribute }

// FrontendAttribute is one pair.
type FrontendAttribute struct{ Key, Value string }

// Get returns the value of key.
func (f *FrontendAttributes) Get(key string) (string, bool) {
	if f != nil {
		for _, e := range f.Entries {
			if e.Key == key {
				return e.Value, true
			}
		}
	}
	return "", false
}

// Metadata says where an instruction comes from. The order of its fields keeps it small.
type Metadata struct {
	OpType, OpName, SourceFile                               string
	DeduplicatedName, SchedulingName                         string
	ProfileType                                              []int64
	Payload                                                  string
	SourceLine, SourceEndLine, SourceColumn, SourceEndColumn int32
	StackFrameID                                             int32
	HasPayload                                               bool
}

// Statistics are numbers measured on a value; entries keep their order.
type Statistics struct {
	VisualizingIndex int64
	Entries          []Statistic
}

// Statistic is one named number.
type Statistic struct {
	Name  string
	Value float64
}

// ResultAccuracy is the accuracy demanded of an elementary function.
type ResultAccuracy struct {
	Highest    bool // mode=highest; otherwise a tolerance
	ATol, RTol float64
	ULPs       int64
}

// Origin names the instructions of the original module that a value comes from: a tree shaped like the value.
type Origin struct {
	SyntheticCall bool
	Tree          *OriginNode
}

// OriginNode is a tuple of nodes, or a leaf; a leaf without a name has no known origin.
type OriginNode struct {
	IsTuple  bool
	Elements []*OriginNode
	Name     string
	HasName  bool
	Index    ShapeIndex
	Calls    []string
}
