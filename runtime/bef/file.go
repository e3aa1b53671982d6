package bef

// Indices. All are dense and start from 0.
type (
	KernelCode  uint32 // index in File.Kernels
	TypeID      uint32 // index in File.Types
	FuncID      uint32 // index in File.Functions
	RegID       uint32 // index in Function.Registers
	KernelIndex uint32 // index in Function.Kernels; the bytes hold one more, for they count the entry record
	LocID       uint32 // byte offset of a location record, or a virtual one past the table
)

// NoType is the type of a register in a file without register types.
const NoType = ^TypeID(0)

// File is a decoded program.
type File struct {
	Kernels   []string
	Types     []string
	Functions []Function
	Attrs     Pool
	Locations Locations

	// Typed says that the file has attribute types, attribute names and
	// register types (sections 8 to 10). Tools want them, execution does not.
	// Without them Attr.Name is "", Attr.Type is 0 and Register.Type is NoType.
	Typed bool

	// Extensions are the sections with unknown ids, in file order.
	Extensions []Section

	// checked is the File itself once Decode has verified it: a copy, whose parts may be changed, does not have that mark.
	checked *File
}

// Kind says how a function is executed.
type Kind uint8

const (
	Async  Kind = iota // by the executor
	Native             // resolved by name when the file is loaded; no body
	Sync               // by the interpreter, in file order
)

func (k Kind) String() string {
	switch k {
	case Async:
		return "async"
	case Native:
		return "native"
	case Sync:
		return "sync"
	}
	return "invalid"
}

// Function is one entry of the function index with its body.
// A Native function has a signature only.
type Function struct {
	Name    string // "" for a region that a kernel owns
	Kind    Kind
	Args    []TypeID
	Results []TypeID
	Loc     LocID

	// Registers are the function's values, arguments first.
	Registers []Register
	// ResultRegs are the registers that are returned, one for each of Results.
	// An asynchronous function may repeat one and may return an argument.
	ResultRegs []RegID

	// TriggerUsers are the kernels without operands: they start with the function.
	TriggerUsers []KernelIndex
	// ArgUsers holds for each argument the kernels that read it, as Kernel.Users.
	ArgUsers [][]KernelIndex
	Kernels  []Kernel
}

// Register is a value of a function: written once, by an argument or a kernel.
type Register struct {
	// Uses counts the operand positions that read the register, the function's
	// results included. A value with zero uses is dropped when it is made.
	Uses uint32
	Type TypeID
}

// Kernel is one call of a kernel.
type Kernel struct {
	Code KernelCode
	Loc  LocID
	// Stream says which kernels should run one after the other. It is advice,
	// and an equality class only: ids are not dense.
	Stream  uint32
	Args    []RegID
	Attrs   []Attr
	Funcs   []FuncID
	Results []RegID
	// Users holds for each result the kernels that read it, one entry per use,
	// last user first.
	Users [][]KernelIndex
}

// Attr is a reference to a constant of the pool.
type Attr struct {
	Name   string // "" if the file does not tell
	Offset uint32 // of the payload in Pool.Data
	Type   AttrType
}

// Section is a piece of a file that this package does not interpret.
type Section struct {
	ID    SectionID
	Align int // of Data in the file: 0 and 1 mean none, else a power of two
	Data  []byte
	// Packs says that a file has the section compressed where that makes it smaller. Data is not.
	Packs bool
	// Body makes the bytes of a section without Data. A file that is loaded in the
	// process that made it keeps such sections as they are: see [File.Body].
	Body SectionBody
}

// SectionBody is the content of a section that has not been encoded.
type SectionBody interface{ Encode() []byte }

// Bytes returns the section's data, encoded now if it is not yet.
func (s *Section) Bytes() []byte {
	if s.Data == nil && s.Body != nil {
		return s.Body.Encode()
	}
	return s.Data
}

// SectionID is the first byte of a section.
type SectionID uint8

const (
	StringsSection SectionID = iota
	AttributesSection
	KernelsSection
	TypesSection
	FunctionIndexSection
	FunctionsSection
	LocationStringsSection
	LocationsSection
	AttributeTypesSection
	AttributeNamesSection
	RegisterTypesSection

	numSections // ids from here on are unknown to TFRT
)

var sectionNames = [numSections]string{"strings", "attributes", "kernels", "types", "function index", "functions",
	"location strings", "locations", "attribute types", "attribute names", "register types"}

func (s SectionID) String() string {
	if s < numSections {
		return sectionNames[s]
	}
	const hex = "0123456789abcdef"
	return "0x" + string(hex[s>>4]) + string(hex[s&15])
}

// Func returns the function of that name, or nil.
func (f *File) Func(name string) *Function {
	for i := range f.Functions {
		if f.Functions[i].Name == name {
			return &f.Functions[i]
		}
	}
	return nil
}

// Constants of the record that stands for a function's start. It is the first
// record of every body; a File shows it as TriggerUsers and ArgUsers.
const (
	magic0, magic1 = 0x0B, 0xEF
	formatVersion  = 0
	padByte        = 0xCC

	entryCode = 0xABABABAB
	entryLoc  = 0xCDCDCDCD

	headerWords = 6 // of a kernel record
)
