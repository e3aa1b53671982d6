package lsp

import "encoding/json"

// Position is a place in a text: both count from 0, Character in UTF-16 code units.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is from Start to before End.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a range in a document.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// TextEdit replaces a range.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit is edits by document.
type WorkspaceEdit struct {
	Changes map[string][]TextEdit `json:"changes"`
}

// Severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
)

// Diagnostic is a fault or finding.
type Diagnostic struct {
	Range    Range                `json:"range"`
	Severity int                  `json:"severity"`
	Code     string               `json:"code,omitempty"` // the rule
	Source   string               `json:"source"`
	Message  string               `json:"message"`
	Related  []RelatedInformation `json:"relatedInformation,omitempty"`
	Data     *fix                 `json:"data,omitempty"`
}

// RelatedInformation is a place that has to do with a diagnostic.
type RelatedInformation struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

type textDocument struct {
	URI string `json:"uri"`
}

type positionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     Position     `json:"position"`
	NewName      string       `json:"newName"` // of a rename
}

type rangeParams struct {
	TextDocument textDocument `json:"textDocument"`
	Range        Range        `json:"range"`
	Context      struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
	} `json:"context"` // of a request for actions
}

type openParams struct {
	TextDocument struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int    `json:"version"`
		Text       string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

type contentChange struct {
	Range *Range `json:"range"` // nil: all
	Text  string `json:"text"`
}

// Diagnostics is all that was found in a version of a document.
type Diagnostics struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    Range  `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Kinds of symbols.
const (
	symbolModule   = 2
	symbolClass    = 5
	symbolFunction = 12
	symbolVariable = 13
)

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

type foldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

type documentHighlight struct {
	Range Range `json:"range"`
	Kind  int   `json:"kind"` // 2 reads, 3 writes
}

type semanticTokens struct {
	Data []uint32 `json:"data"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []Diagnostic  `json:"diagnostics"`
	IsPreferred bool          `json:"isPreferred"`
	Edit        WorkspaceEdit `json:"edit"`
}

// capabilities is what the server can do.
func capabilities() json.RawMessage {
	return mustJSON(map[string]any{
		"capabilities": map[string]any{
			"textDocumentSync":           map[string]any{"openClose": true, "change": 2},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"referencesProvider":         true,
			"documentHighlightProvider":  true,
			"documentSymbolProvider":     true,
			"foldingRangeProvider":       true,
			"documentFormattingProvider": true,
			"renameProvider":             map[string]any{"prepareProvider": true},
			"codeActionProvider":         map[string]any{"codeActionKinds": []string{"quickfix"}},
			"semanticTokensProvider": map[string]any{"full": true, "range": true,
				"legend": map[string]any{"tokenTypes": tokenTypes, "tokenModifiers": []string{"declaration"}}},
		},
		"serverInfo": map[string]any{"name": "halo"},
	})
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	return b
}
