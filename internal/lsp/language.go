package lsp

import (
	"path"
	"strings"

	"github.com/gohalo/halo/hlo/source"
)

// language is how texts of one language are treated.
type language struct {
	name   string
	index  func(text string) *index
	check  func(d *document) checked
	format func(d *document) (string, error)
}

// Names of languages, as editors call them.
const (
	nameHLO       = "hlo"
	nameStableHLO = "stablehlo"
	nameRules     = "halo-rules"
)

var (
	hloText   = &language{nameHLO, indexHLO, checkModule, formatHLO}
	stableHLO = &language{nameStableHLO, indexMLIR, checkModule, formatMLIR}
	ruleText  = &language{nameRules, indexRules, checkRules, formatRules}
)

// languageOf is the language of a text: what the editor calls it, else what its name and content say.
func languageOf(id, uri, text string) *language {
	for _, l := range []*language{hloText, stableHLO, ruleText} {
		if l.name == id {
			return l
		}
	}
	switch path.Ext(uri) {
	case ".rules":
		return ruleText
	case ".mlir":
		return stableHLO
	case ".hlo":
		return hloText
	}
	if kind := source.Detect(uri, []byte(text)); kind == source.StableHLOText || strings.Contains(id, "mlir") {
		return stableHLO
	}
	return hloText
}
