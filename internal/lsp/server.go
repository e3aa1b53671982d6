package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/gohalo/halo/hlo/analysis"
)

// Config says how to serve.
type Config struct {
	// Rates are those of the machine that costs are for; zero is analysis.OneCore.
	Rates analysis.Rates
}

// Serve answers a client until it says exit, or closes its side.
func Serve(ctx context.Context, in io.Reader, out io.Writer, cfg Config) error {
	if cfg.Rates == (analysis.Rates{}) {
		cfg.Rates = analysis.OneCore
	}
	s := &server{rates: cfg.Rates, documents: map[string]*document{}, waiting: map[string]*document{}, wake: make(chan struct{}, 1)}
	stream := jsonrpc2.NewBufferedStream(pipes{in, out}, &s.codec)
	conn := jsonrpc2.NewConn(ctx, stream, jsonrpc2.HandlerWithError(s.handle), jsonrpc2.SetLogger(quiet{}))
	go s.checkAll(ctx, conn)
	select {
	case <-conn.DisconnectNotify():
	case <-ctx.Done():
		conn.Close()
	}
	return nil
}

// pipes are the two sides of a connection. Closing is their owner's.
type pipes struct {
	io.Reader
	io.Writer
}

func (pipes) Close() error { return nil }

// quiet is for what the connection would log: the client has gone, or has sent what no client sends.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// server holds the open documents. Messages are handled one after the other; texts are checked beside that.
type server struct {
	codec     codec
	rates     analysis.Rates
	mu        sync.Mutex
	documents map[string]*document
	waiting   map[string]*document // the newest version of each that is to be checked
	wake      chan struct{}        // says that one is
}

// handler answers a request; what it returns is the result.
type handler func(s *server, ctx context.Context, conn *jsonrpc2.Conn, raw json.RawMessage) (any, error)

// on makes a handler of a function with parameters of its own type.
func on[P any](f func(s *server, p P) (any, error)) handler {
	return func(s *server, _ context.Context, _ *jsonrpc2.Conn, raw json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
		return f(s, p)
	}
}

// methods are what is answered. Notifications that are not among them are passed over.
var methods = map[string]handler{
	"initialize":  on(func(*server, struct{}) (any, error) { return capabilities(), nil }),
	"initialized": on(func(*server, struct{}) (any, error) { return nil, nil }),
	"shutdown":    func(*server, context.Context, *jsonrpc2.Conn, json.RawMessage) (any, error) { return nil, nil },
	"exit": func(_ *server, _ context.Context, c *jsonrpc2.Conn, _ json.RawMessage) (any, error) {
		return nil, c.Close()
	},
	"textDocument/didOpen":              on((*server).open),
	"textDocument/didChange":            on((*server).change),
	"textDocument/didClose":             (*server).close,
	"textDocument/hover":                at((*server).hover),
	"textDocument/definition":           at((*server).definition),
	"textDocument/references":           at((*server).references),
	"textDocument/documentHighlight":    at((*server).highlight),
	"textDocument/prepareRename":        at((*server).prepareRename),
	"textDocument/rename":               at((*server).rename),
	"textDocument/documentSymbol":       in((*server).outline),
	"textDocument/foldingRange":         in((*server).folds),
	"textDocument/formatting":           in((*server).format),
	"textDocument/codeAction":           in((*server).actions),
	"textDocument/semanticTokens/full":  in((*server).allColours),
	"textDocument/semanticTokens/range": in((*server).someColours),
}

func (s *server) handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	h, ok := methods[r.Method]
	if !ok {
		if r.Notif {
			return nil, nil
		}
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: r.Method}
	}
	raw := json.RawMessage("{}")
	if r.Params != nil {
		raw = *r.Params
	}
	return h(s, ctx, conn, raw)
}

// at is a handler of what is asked about a place in a document.
func at(f func(s *server, d *document, offset int, p positionParams) (any, error)) handler {
	return on(func(s *server, p positionParams) (any, error) {
		d, err := s.document(p.TextDocument.URI)
		if err != nil {
			return nil, err
		}
		return f(s, d, d.offset(p.Position), p)
	})
}

// in is a handler of what is asked about a document or a part of it.
func in(f func(s *server, d *document, p rangeParams) (any, error)) handler {
	return on(func(s *server, p rangeParams) (any, error) {
		d, err := s.document(p.TextDocument.URI)
		if err != nil {
			return nil, err
		}
		return f(s, d, p)
	})
}

func (s *server) document(uri string) (*document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[uri]; d != nil {
		return d, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: uri + " is not open"}
}

func (s *server) open(p openParams) (any, error) {
	if s.codec.opened != nil {
		p, s.codec.opened = *s.codec.opened, nil
	}
	t := p.TextDocument
	s.put(newDocument(t.URI, t.Version, t.Text, languageOf(t.LanguageID, t.URI, t.Text), &shared{}))
	return nil, nil
}

func (s *server) change(p changeParams) (any, error) {
	d, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	next, err := d.edited(p.TextDocument.Version, p.ContentChanges)
	if err != nil {
		return nil, err
	}
	s.put(next)
	return nil, nil
}

func (s *server) close(ctx context.Context, conn *jsonrpc2.Conn, raw json.RawMessage) (any, error) {
	var p positionParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	delete(s.documents, p.TextDocument.URI)
	s.mu.Unlock()
	return nil, conn.Notify(ctx, "textDocument/publishDiagnostics", Diagnostics{p.TextDocument.URI, 0, []Diagnostic{}})
}

// put makes a version the current one and has it checked. A version that was not begun yet is checked no more.
func (s *server) put(d *document) {
	s.mu.Lock()
	s.documents[d.uri], s.waiting[d.uri] = d, d
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// checkAll checks versions as they come, and publishes what is found.
func (s *server) checkAll(ctx context.Context, conn *jsonrpc2.Conn) {
	for {
		select {
		case <-conn.DisconnectNotify():
			return
		case <-s.wake:
		}
		for d := s.next(); d != nil; d = s.next() {
			found := d.checks().diagnostics
			s.mu.Lock()
			current := s.documents[d.uri] == d
			s.mu.Unlock()
			if current && conn.Notify(ctx, "textDocument/publishDiagnostics", Diagnostics{d.uri, d.version, found}) != nil {
				return
			}
		}
	}
}

// next takes a version that is to be checked; nil if there is none.
func (s *server) next() *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri, d := range s.waiting {
		delete(s.waiting, uri)
		return d
	}
	return nil
}

func (s *server) hover(d *document, offset int, _ positionParams) (any, error) {
	text, at := d.hoverAt(offset, s.rates)
	if text == "" {
		return nil, nil
	}
	return hover{markup{"markdown", text}, d.rangeOf(at)}, nil
}

func (s *server) definition(d *document, offset int, _ positionParams) (any, error) {
	o, ok := d.nameAt(offset)
	if !ok {
		return nil, nil
	}
	return Location{d.uri, d.rangeOf(d.names().symbols[o.symbol].def)}, nil
}

func (s *server) references(d *document, offset int, _ positionParams) (any, error) {
	all := []Location{}
	if o, ok := d.nameAt(offset); ok {
		for _, o := range d.names().of(o.symbol) {
			all = append(all, Location{d.uri, d.rangeOf(o.span)})
		}
	}
	return all, nil
}

func (s *server) highlight(d *document, offset int, _ positionParams) (any, error) {
	all := []documentHighlight{}
	if o, ok := d.nameAt(offset); ok {
		for _, x := range d.names().of(o.symbol) {
			k := 2
			if x.span == d.names().symbols[o.symbol].def {
				k = 3
			}
			all = append(all, documentHighlight{d.rangeOf(x.span), k})
		}
	}
	return all, nil
}

func (s *server) prepareRename(d *document, offset int, _ positionParams) (any, error) {
	o, ok := d.nameAt(offset)
	if !ok {
		return nil, nil
	}
	return d.rangeOf(o.span), nil
}

// aName is what may be the name of an instruction, computation or value, or the id of a rule.
var aName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.$-]*$`) })

func (s *server) rename(d *document, offset int, p positionParams) (any, error) {
	x := d.names()
	o, ok := d.nameAt(offset)
	name := p.NewName
	if name != "" && isSigil(name[0]) {
		name = name[1:]
	}
	refuse := func(format string, args ...any) (any, error) {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case !ok:
		return refuse("there is no name here")
	case !aName().MatchString(name):
		return refuse("%q cannot be a name: want letters, digits and _ . -", p.NewName)
	}
	renamed := x.symbols[o.symbol]
	for i, other := range x.symbols {
		if i != o.symbol && other.name == name && other.within == renamed.within && other.kind == renamed.kind {
			return refuse("%s is there already, in line %d", name, d.position(other.def.from).Line+1)
		}
	}
	edits := []TextEdit{}
	for _, x := range x.of(o.symbol) {
		edits = append(edits, TextEdit{d.rangeOf(x.span), name})
	}
	return WorkspaceEdit{map[string][]TextEdit{d.uri: edits}}, nil
}

// largeOutline is more instructions than an outline shows: of a larger text it has the computations.
const largeOutline = 10000

func (s *server) outline(d *document, _ rangeParams) (any, error) {
	x := d.names()
	all := []documentSymbol{}
	place := map[int]int{}
	for i, sym := range x.symbols {
		one := documentSymbol{Name: sym.name, Detail: sym.detail, Kind: sym.kind, Range: d.rangeOf(sym.whole), SelectionRange: d.rangeOf(sym.def)}
		if sym.within < 0 {
			place[i] = len(all)
			all = append(all, one)
		} else if len(x.symbols) <= largeOutline && d.language.name != nameRules {
			parent := &all[place[sym.within]]
			parent.Children = append(parent.Children, one)
		}
	}
	return all, nil
}

func (s *server) folds(d *document, _ rangeParams) (any, error) {
	all := []foldingRange{}
	for _, f := range d.names().folds {
		from, to := d.position(f.from).Line, d.position(f.to).Line
		if to > from+1 {
			all = append(all, foldingRange{StartLine: from, EndLine: to - 1})
		}
	}
	return all, nil
}

func (s *server) format(d *document, _ rangeParams) (any, error) {
	text, err := d.language.format(d)
	if err != nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: err.Error()}
	}
	if text == d.text {
		return []TextEdit{}, nil
	}
	return []TextEdit{{d.rangeOf(span{0, len(d.text)}), text}}, nil
}

// actions are the fixes of the diagnostics in a range.
func (s *server) actions(d *document, p rangeParams) (any, error) {
	all := []codeAction{}
	for _, x := range d.checks().diagnostics {
		if x.Data == nil || x.Range.End.before(p.Range.Start) || p.Range.End.before(x.Range.Start) {
			continue
		}
		edit := WorkspaceEdit{map[string][]TextEdit{d.uri: {{x.Data.Range, x.Data.Text}}}}
		all = append(all, codeAction{x.Data.Title, "quickfix", []Diagnostic{x}, true, edit})
	}
	return all, nil
}

func (p Position) before(o Position) bool {
	return p.Line < o.Line || p.Line == o.Line && p.Character < o.Character
}

// largeColours is a text whose colours are given for what is seen alone.
const largeColours = 1 << 20

func (s *server) allColours(d *document, _ rangeParams) (any, error) {
	if len(d.text) > largeColours {
		return nil, nil
	}
	return d.colours(span{0, len(d.text)}), nil
}

func (s *server) someColours(d *document, p rangeParams) (any, error) {
	from := d.offset(p.Range.Start)
	return d.colours(span{lineStart(d.text, from), d.offset(p.Range.End)}), nil
}
