package halocmd

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gohalo/halo/printer"
)

// printFlags choose how modules are printed: a style, and options that change it. The tag config names the field of [printer.Config] that
// an option sets, with ! before it where the field says the contrary.
type printFlags struct {
	Style string `help:"${styles}" default:"default" group:"Printing"`
	Sugar string `help:"Print asynchronous instructions as op-start, op-update, op-done: on, off, or auto, which is where the text reads back as the same program, but nowhere in halo opt." default:"auto" enum:"auto,on,off" group:"Printing"`

	OperandShapes  *bool `help:"Print the shape of each operand." negatable:"" group:"Printing" config:"OperandShapes"`
	LargeConstants *bool `help:"Print all literals in full." negatable:"" group:"Printing" config:"LargeConstants"`
	Metadata       *bool `help:"Print metadata." negatable:"" group:"Printing" config:"!OmitMetadata"`
	CompactTuples  *bool `help:"Print tuple elements as operand#index." negatable:"" group:"Printing" config:"CompactTuples"`

	EssentialConstants    *bool `help:"Print only constants that are zero, one or an integer." negatable:"" group:"Printing" config:"EssentialConstants"`
	MetadataOpNameOnly    *bool `help:"Print only the op_name of metadata." negatable:"" group:"Printing" config:"OpNameOnly"`
	InlineStackFrames     *bool `help:"Print file, line and column in place of stack_frame_id." negatable:"" group:"Printing" config:"InlineFrames"`
	OriginalValue         *bool `help:"Print origin." negatable:"" group:"Printing" config:"!OmitOrigin"`
	BackendConfig         *bool `help:"Print backend_config." negatable:"" group:"Printing" config:"!OmitConfig"`
	SortBackendConfig     *bool `help:"Sort the keys of a backend_config that is JSON." negatable:"" group:"Printing" config:"SortConfig"`
	InfeedOutfeedConfig   *bool `help:"Print infeed_config and outfeed_config." negatable:"" group:"Printing" config:"!OmitFeedConfig"`
	FrontendAttributes    *bool `help:"Print frontend_attributes." negatable:"" group:"Printing" config:"!OmitFrontend"`
	ControlDependencies   *bool `help:"Print control-predecessors." negatable:"" group:"Printing" config:"!OmitControl"`
	ExtraAttributes       *bool `help:"Print the attributes that belong to the opcode." negatable:"" group:"Printing" config:"!OmitAttributes"`
	OperandNames          *bool `help:"Print the names of operands." negatable:"" group:"Printing" config:"!OmitOperands"`
	CompactOperands       *bool `help:"Print four operands at most; cannot be read back." negatable:"" group:"Printing" config:"CompactOperands"`
	ResultShape           *bool `help:"Print the shapes of results." negatable:"" group:"Printing" config:"!OmitResult"`
	Layouts               *bool `help:"Print the layouts of operands and results." negatable:"" group:"Printing" config:"!OmitLayouts"`
	ProgramShape          *bool `help:"Print the signatures of computations." negatable:"" group:"Printing" config:"!OmitSignature"`
	Percent               *bool `help:"Print % before names." negatable:"" group:"Printing" config:"!OmitPercent"`
	IDs                   *bool `name:"ids" help:"Print names whole; off, they end at the first point and cannot be read back." negatable:"" group:"Printing" config:"!OmitIDs"`
	CanonicalNames        *bool `help:"Name instructions tmp_0, tmp_1, and so on." negatable:"" group:"Printing" config:"CanonicalNames"`
	CanonicalComputations *bool `help:"Print computations in the order of the module where callees permit." negatable:"" group:"Printing" config:"ModuleOrder"`
	NameAfterBody         *bool `help:"Print the name of a long computation behind it too." negatable:"" group:"Printing" config:"NameAfterBody"`
	ParameterNumber       *bool `help:"Print the numbers of parameters." negatable:"" group:"Printing" config:"!OmitParameter"`
	ChannelID             *bool `name:"channel-id" help:"Print channel ids; off, they are _." negatable:"" group:"Printing" config:"!OmitChannel"`

	Subcomputations      *printer.Bodies      `help:"Print called computations as ${bodies}; non-sequential is full but for call, conditional and while." placeholder:"HOW" group:"Printing" config:"Bodies"`
	ReplicaGroups        *printer.GroupsStyle `help:"Print replica groups ${groups}." placeholder:"HOW" group:"Printing" config:"Groups"`
	OperandIndexInterval *printer.IndexEvery  `help:"Mark each N-th operand with its index, 0 for none." placeholder:"N" group:"Printing" config:"OperandIndex"`
	Indent               int                  `help:"Begin this many steps of two spaces to the right." placeholder:"N" group:"Printing" config:"Indent"`
	MaxBytes             int64                `help:"Refuse prints that are longer. Default: 1 GiB with full bodies, else no limit." placeholder:"N" group:"Printing" config:"MaxBytes"`
}

// config is the configuration that the flags ask for.
func (f *printFlags) config() (printer.Config, error) {
	cfg, ok := printer.StyleByName(f.Style)
	if !ok {
		return cfg, fmt.Errorf("--style=%s: want %s", f.Style, oneOf(styleNames()))
	}
	switch f.Sugar {
	case "on":
		cfg.Sugar = printer.SugarOn
	case "off":
		cfg.Sugar = printer.SugarOff
	}
	if f.Indent < 0 || f.Indent > maxIndent {
		return cfg, fmt.Errorf("--indent=%d: want a number from 0 to %d", f.Indent, maxIndent)
	}
	if f.MaxBytes < 0 {
		return cfg, fmt.Errorf("--max-bytes=%d: want a number of bytes", f.MaxBytes)
	}
	flags, to := reflect.ValueOf(f).Elem(), reflect.ValueOf(&cfg).Elem()
	for i := range flags.NumField() {
		name, contrary := strings.CutPrefix(flags.Type().Field(i).Tag.Get("config"), "!")
		given := flags.Field(i)
		switch {
		case name == "" || given.IsZero():
		case contrary:
			to.FieldByName(name).SetBool(!given.Elem().Bool())
		case given.Kind() == reflect.Pointer:
			to.FieldByName(name).Set(given.Elem())
		default:
			to.FieldByName(name).Set(given)
		}
	}
	return cfg, nil
}

// maxIndent is as far to the right as anything can be read.
const maxIndent = 1000

// styleNames are the names of the styles, in the order of the table.
func styleNames() (names []string) {
	for _, s := range printer.Styles() {
		names = append(names, s.Name)
	}
	return names
}

// printVars are what the help of the flags takes from the tables of the printer.
func printVars() map[string]string {
	var styles []string
	for _, s := range printer.Styles() {
		styles = append(styles, s.Name+": "+s.Doc)
	}
	return map[string]string{
		"styles": "How to print. " + strings.Join(styles, "; ") + ".",
		"bodies": oneOf(printer.BodiesNames()), "groups": oneOf(printer.GroupsNames()),
	}
}

// oneOf is a list of words with "or" before the last.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
