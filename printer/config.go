package printer

// Config says how to print. The zero value is XLA's default form (hlo-text section 8.3, column D), except that sugar is written only
// where it reads back as the same program.
type Config struct {
	// LargeConstants writes all constants out. Otherwise arrays of more than ten elements are `{...}`.
	LargeConstants bool
	// EssentialConstants reduces constants to what matters for comparing programs: splats of zero and one, and integers.
	EssentialConstants bool
	// Bodies says how called computations appear: by name, or with their bodies.
	Bodies Bodies
	// Entry writes ENTRY before a lone entry computation. In a module it is always written.
	Entry bool
	// Indent is the indentation to start with, in steps of two spaces.
	Indent int

	OmitMetadata   bool // metadata, that of shardings, and the tables of stack frames
	OpNameOnly     bool // of metadata only op_name
	InlineFrames   bool // file, line and column of the innermost stack frame instead of its id; no tables
	OmitOrigin     bool
	OmitConfig     bool // backend_config
	SortConfig     bool // keys of a backend_config that is JSON in order
	OmitFeedConfig bool // infeed_config and outfeed_config
	OmitFrontend   bool // frontend_attributes of instructions
	OmitControl    bool // control-predecessors
	OmitAttributes bool // all attributes that belong to the opcode

	OperandShapes   bool
	OmitOperands    bool        // names of operands
	OperandIndex    IndexEvery  // `/*index=5*/` marks among operands
	CompactOperands bool        // at most four operands, then `...(+N)`; cannot be read back
	CompactTuples   bool        // get-tuple-element as `%x#1` at its uses
	OmitResult      bool        // result shapes; cannot always be read back
	OmitLayouts     bool        // of operands and results
	OmitSignature   bool        // of computations
	OmitPercent     bool        // `%` before names
	OmitIDs         bool        // names end at the first '.', computations have none; cannot be read back
	CanonicalNames  bool        // tmp_0, tmp_1, ... in order of appearance
	Sugar           Sugar       // OP-start for async-start
	NameAfterBody   bool        // ` // NAME` after long computations
	Groups          GroupsStyle // how replica groups are written
	OmitParameter   bool        // parameter numbers; cannot be read back
	OmitChannel     bool        // `_` for channel ids; cannot be read back
	ModuleOrder     bool        // computations in module order where callees permit, instead of in the order callers are met

	// MaxBytes bounds the output, since bodies of called computations may repeat without end; 0 means 1 GiB when bodies are written
	// and no bound otherwise.
	MaxBytes int64
}

// Bodies says how called computations appear in an instruction.
type Bodies uint8

// The forms of called computations.
const (
	BodyNames         Bodies = iota // to_apply=%add
	BodyNone                        // not at all; cannot be read back
	BodyFull                        // to_apply={...}
	BodyNonSequential               // in full, except of call, conditional and while
)

// IndexEvery says after how many operands a mark with the index is written.
type IndexEvery int

// The usual distances.
const (
	IndexEvery5 IndexEvery = 0  // every fifth, as XLA does
	NoIndex     IndexEvery = -1 // no marks
)

// Sugar says when asynchronous operations are written as OP-start, OP-update and OP-done.
type Sugar uint8

// The choices.
const (
	SugarAuto Sugar = iota // where it reads back as the same program (hlo-text section 7.8)
	SugarOn                // where XLA does it, even if another program is read back
	SugarOff               // never
)

// GroupsStyle says how replica groups are written.
type GroupsStyle uint8

// The styles.
const (
	GroupsAsGiven    GroupsStyle = iota
	GroupsListed                 // {{0,1},{2,3}} for all of them
	GroupsWithoutSub             // meshes split so that no sub-axes remain
)

// The named styles.
var (
	// Default is XLA's default form: Config{}.
	Default = Config{}
	// Long is Default with operand shapes and all constants: nothing is lost.
	Long = Config{LargeConstants: true, OperandShapes: true}
	// Short is XLA's short form that parses: no metadata, no control dependencies, no '%', no signatures.
	Short = Config{
		LargeConstants: true, OmitMetadata: true, OmitControl: true, OmitSignature: true, OmitPercent: true, OperandIndex: NoIndex,
	}
	// Canonical names instructions by position and writes called computations in place, for comparing texts.
	Canonical = Config{
		Bodies: BodyFull, OmitMetadata: true, OmitConfig: true, OmitControl: true, OperandShapes: true, OmitOperands: true,
		OperandIndex: NoIndex, OmitSignature: true, OmitPercent: true, CanonicalNames: true,
	}
	// Fingerprint is Canonical less names, constants and configuration of infeeds, with replica groups listed.
	Fingerprint = Config{
		EssentialConstants: true, Bodies: BodyFull, OmitMetadata: true, OmitConfig: true, OmitFeedConfig: true, OmitControl: true,
		OperandShapes: true, OmitOperands: true, OperandIndex: NoIndex, OmitSignature: true, OmitPercent: true, OmitIDs: true,
		CanonicalNames: true, Groups: GroupsListed, ModuleOrder: true,
	}
	// Dump is the form of XLA's own dumps of a module: no sugar, tuple elements at their uses.
	Dump = Config{Sugar: SugarOff, CompactTuples: true}
)

// A Style is a named configuration.
type Style struct {
	Name, Doc string
	Config    Config
}

// Styles lists the named configurations, as the command line offers them.
func Styles() []Style {
	return []Style{
		{"default", "XLA's default form", Default},
		{"long", "default with operand shapes and large constants; loses nothing", Long},
		{"short", "XLA's short form that parses", Short},
		{"canonical", "instructions named by position, called computations in place", Canonical},
		{"fingerprint", "canonical without names and large constants", Fingerprint},
		{"dump", "as XLA dumps modules: no async sugar, compact tuple elements", Dump},
	}
}

// StyleByName returns the configuration of a style.
func StyleByName(name string) (Config, bool) {
	for _, s := range Styles() {
		if s.Name == name {
			return s.Config, true
		}
	}
	return Config{}, false
}
