package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/lsp"
)

// client is an editor: it speaks the protocol over two pipes, as over standard input and output.
type client struct {
	t         testing.TB
	conn      *jsonrpc2.Conn
	published chan lsp.Diagnostics
	text      map[string]string
	version   int
}

type halves struct {
	io.Reader
	io.WriteCloser
}

func connect(t testing.TB) *client {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	c := &client{t: t, published: make(chan lsp.Diagnostics, 100), text: map[string]string{}}
	served := make(chan error, 1)
	go func() { served <- lsp.Serve(context.Background(), toServer, fromServer, lsp.Config{}) }()
	stream := jsonrpc2.NewBufferedStream(halves{toClient, fromClient}, jsonrpc2.VSCodeObjectCodec{})
	c.conn = jsonrpc2.NewConn(context.Background(), stream, jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		if r.Method == "textDocument/publishDiagnostics" {
			var p lsp.Diagnostics
			if err := json.Unmarshal(*r.Params, &p); err != nil {
				return nil, err
			}
			c.published <- p
		}
		return nil, nil
	}))
	c.call("initialize", map[string]any{"capabilities": map[string]any{}}, nil)
	c.notify("initialized", map[string]any{})
	t.Cleanup(func() {
		c.call("shutdown", nil, nil)
		c.notify("exit", nil)
		select {
		case err := <-served:
			require.NoError(t, err)
		case <-time.After(10 * time.Second):
			t.Error("the server does not end after exit")
		}
		c.conn.Close()
	})
	return c
}

func (c *client) call(method string, params, result any) {
	c.t.Helper()
	require.NoError(c.t, c.conn.Call(context.Background(), method, params, result), method)
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	require.NoError(c.t, c.conn.Notify(context.Background(), method, params))
}

// open opens a text and returns its diagnostics.
func (c *client) open(uri, text string) []lsp.Diagnostic {
	c.t.Helper()
	c.version++
	c.text[uri] = text
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "", "version": c.version, "text": text}})
	return c.diagnostics(uri)
}

// edit replaces the first old in a text by new, as an editor does while somebody types, and returns the diagnostics.
func (c *client) edit(uri, old, new string) []lsp.Diagnostic {
	c.t.Helper()
	at := strings.Index(c.text[uri], old)
	require.GreaterOrEqual(c.t, at, 0, old)
	change := map[string]any{"range": map[string]any{"start": c.position(uri, at), "end": c.position(uri, at+len(old))}, "text": new}
	c.text[uri] = strings.Replace(c.text[uri], old, new, 1)
	c.version++
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": c.version}, "contentChanges": []any{change}})
	return c.diagnostics(uri)
}

// diagnostics waits for those of the newest version.
func (c *client) diagnostics(uri string) []lsp.Diagnostic {
	c.t.Helper()
	for {
		select {
		case p := <-c.published:
			if p.URI == uri && p.Version == c.version {
				return p.Diagnostics
			}
		case <-time.After(time.Minute):
			c.t.Fatal("no diagnostics within a minute")
		}
	}
}

// position is the place of an offset; the texts of tests that have other letters than ASCII compute their own.
func (c *client) position(uri string, offset int) lsp.Position {
	before := c.text[uri][:offset]
	return lsp.Position{Line: strings.Count(before, "\n"), Character: offset - strings.LastIndexByte(before, '\n') - 1}
}

// about is the parameters of a question about the n-th occurrence of a text, from 0.
func (c *client) about(uri, text string, n int) map[string]any {
	c.t.Helper()
	at := -1
	for range n + 1 {
		next := strings.Index(c.text[uri][at+1:], text)
		require.GreaterOrEqual(c.t, next, 0, text)
		at += 1 + next
	}
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": c.position(uri, at)}
}

// applied is a text after edits, which must not overlap.
func (c *client) applied(uri string, edits []lsp.TextEdit) string {
	lines := strings.SplitAfter(c.text[uri], "\n")
	offset := func(p lsp.Position) int {
		at := 0
		for _, l := range lines[:p.Line] {
			at += len(l)
		}
		return at + p.Character
	}
	text := c.text[uri]
	for i := len(edits) - 1; i >= 0; i-- { // they come by place
		e := edits[i]
		text = text[:offset(e.Range.Start)] + e.NewText + text[offset(e.Range.End):]
	}
	return text
}

// lines writes where locations begin: line:column, from 1.
func lines(all []lsp.Location) string {
	var b []string
	for _, l := range all {
		b = append(b, fmt.Sprintf("%d:%d", l.Range.Start.Line+1, l.Range.Start.Character+1))
	}
	return strings.Join(b, " ")
}
