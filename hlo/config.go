package hlo

// ModuleConfig holds the attributes of a module's header. It is immutable and replaced as a whole.
type ModuleConfig struct {
	IsScheduled           bool
	InputOutputAlias      []Alias
	BufferDonors          []BufferDonor
	AliasPassthrough      bool
	EntryLayout           *ProgramShape // nil until known
	AllowSPMDToParameters []bool        // nil: the default, one false
	AllowSPMDToOutput     []bool
	ReplicaCount          int64 // 0 and 1 both mean one
	NumPartitions         int64
	UseSPMD               bool
	FrontendAttributes    *FrontendAttributes
	OriginRecovery        []OriginRecovery
	DebugAttributes       []DebugAttribute
	StackFrames           *StackFrames
	// Unknown attributes kept verbatim by the lenient reader, in order of appearance.
	Unknown []UnknownAttr
	// Foreign is what a serialized module says that text has no words for, such as the devices it was compiled for, as hlo/proto keeps it.
	Foreign string
	// FileName is where the text came from, for messages; "" when unknown.
	FileName string
}

// Alias says that the output at Output is written over parameter Parameter at ParameterIndex.
type Alias struct {
	Output         ShapeIndex
	Parameter      int64
	ParameterIndex ShapeIndex
	Must           bool // must-alias, else may-alias
}

// BufferDonor names a parameter buffer that the caller gives up.
type BufferDonor struct {
	Parameter int64
	Index     ShapeIndex
}

// OriginRecovery rebuilds a lost original value: Lost can be computed from Kept by the module in Text.
type OriginRecovery struct {
	Lost, Kept OriginNode
	Text       string
	Module     *Module // parsed from Text; nil without one
}

// DebugAttribute attaches debugging callbacks to an original array.
type DebugAttribute struct {
	Array   OriginNode
	Entries []DebugEntry
}

// DebugEntry is one callback. Unset fields were not written, and are not printed.
type DebugEntry struct {
	LogMode     DebugLogMode
	CallbackID  OptInt
	Partitioned bool
	OpID        OptInt
}

// StackFrames are the tables that stack_frame_id in metadata refers to. Ids count from 1; 0 means none.
type StackFrames struct {
	FileNames, FunctionNames []string
	Locations                []FileLocation
	Frames                   []StackFrame
}

// FileLocation is a span of source text in a function.
type FileLocation struct {
	FileNameID, FunctionNameID       int32
	Line, EndLine, Column, EndColumn int32
}

// StackFrame is a location and the frame that called it (0: none).
type StackFrame struct{ FileLocationID, ParentFrameID int32 }

// Location is the place of frame id, and its file; false if the tables do not have it, or there are none.
func (t *StackFrames) Location(id int32) (file string, l FileLocation, ok bool) {
	if t == nil || id < 1 || int(id) > len(t.Frames) {
		return "", l, false
	}
	at := int(t.Frames[id-1].FileLocationID)
	if at < 1 || at > len(t.Locations) {
		return "", l, false
	}
	l = t.Locations[at-1]
	if f := int(l.FileNameID); f >= 1 && f <= len(t.FileNames) {
		file = t.FileNames[f-1]
	}
	return file, l, true
}
