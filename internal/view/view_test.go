package view_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/view"
)

const loop = `HloModule m

body {
  x = f32[8]{0} parameter(0)
  ROOT e = f32[8]{0} exponential(x), metadata={op_name="jit(f)/while/body/exp" source_file="/src/f.py" source_line=7}
}

cond {
  x.1 = f32[8]{0} parameter(0)
  ROOT t = pred[] constant(true)
}

ENTRY main {
  p = f32[8]{0} parameter(0), sharding={devices=[2]<=[2]}
  q = f32[8]{0} negate(p)
  ROOT w = f32[8]{0} while(q), condition=cond, body=body, backend_config={"known_trip_count":{"n":"5"}}
}
`

func parsed(t *testing.T, text string) hlo.Module {
	t.Helper()
	m, err := parser.Parse("m.hlo", text)
	require.NoError(t, err)
	return m
}

func TestNew(t *testing.T) {
	p, err := view.New("m.hlo", parsed(t, loop), analysis.OneCore)
	require.NoError(t, err)
	at := func(name string) int {
		i, ok := p.Index(name)
		require.True(t, ok, name)
		return i
	}
	require.Len(t, p.Names, 7)
	for _, column := range []int{len(p.Op), len(p.Kind), len(p.Shape), len(p.Scope), len(p.Source), len(p.Line), len(p.Text), len(p.OperandEnds), len(p.Seconds), len(p.Rounds)} {
		assert.Equal(t, 7, column)
	}
	e, q, w := at("%e"), at("q"), at("w")
	assert.Equal(t, "main", p.Computations[p.Entry].Name)
	assert.Equal(t, w, p.Computations[p.Entry].Root)
	assert.Equal(t, "jit(f)/while/body/exp", p.Scopes[p.Scope[e]])
	assert.Equal(t, "/src/f.py:7", p.Sources[p.Source[e]])
	assert.Equal(t, []int{at("p")}, p.Operands[p.OperandEnds[q-1]:p.OperandEnds[q]])
	assert.Len(t, p.Callees[w], 2)
	assert.EqualValues(t, 5, p.Rounds[e], "the body is executed as often as the loop says")
	assert.EqualValues(t, 40, p.Flops[e])
	assert.InDelta(t, p.Seconds[q]+p.Seconds[w], p.Total, 1e-12, "what the entry takes is the whole")
	assert.Contains(t, p.Text[e], "exponential(%x)")

	var sharding *view.Overlay
	for _, o := range p.Overlays {
		if o.ID == "sharding" {
			sharding = o
		}
	}
	require.NotNil(t, sharding)
	assert.Equal(t, []view.Value{{Instr: at("p"), Number: 0, Label: "{devices=[2]<=[2]}"}}, sharding.Values)

	p.ExplainShardings(map[string][]string{"p": {"{devices=[2]<=[2]}: given"}, "w": {"no sharding", "twice"}, "strange": {"gone"}})
	assert.Equal(t, []view.Value{{Instr: at("p"), Label: "{devices=[2]<=[2]}: given"}, {Instr: w, Number: 1, Label: "no sharding; twice"}}, sharding.Values)
	assert.Equal(t, "none", sharding.Classes[1].Name)
}

func TestDifference(t *testing.T) {
	old := parsed(t, loop)
	m := parsed(t, strings.Replace(strings.Replace(loop, "q = f32[8]{0} negate(p)", "q = f32[8]{0} cosine(p)\n  r = f32[8]{0} sine(q)", 1), "while(q)", "while(r)", 1))
	p, err := view.New("m.hlo", m, analysis.OneCore)
	require.NoError(t, err)
	o := view.Difference(old, m, "old.hlo", p)
	var said []string
	for _, v := range o.Values {
		said = append(said, p.Names[v.Instr]+": "+o.Classes[int(v.Number)].Name)
	}
	assert.Subset(t, said, []string{"r: new"})
	assert.NotContains(t, strings.Join(said, " "), "p:")
	assert.Contains(t, o.About, "instructions are the same")
}

func TestReadOverlays(t *testing.T) {
	p, err := view.New("m.hlo", parsed(t, loop), analysis.OneCore)
	require.NoError(t, err)
	o, err := view.ReadOverlays("o.json", []byte(`{"title":"Measured","unit":"s","values":[{"instruction":"%q","value":0.5},{"instruction":"gone","value":1}]}`), p)
	require.NoError(t, err)
	i, _ := p.Index("q")
	require.Len(t, o, 1)
	assert.Equal(t, []view.Value{{Instr: i, Number: 0.5}}, o[0].Values)
	_, err = view.ReadOverlays("o.json", []byte(`{"values":[{"instruction":"gone","value":1}]}`), p)
	assert.ErrorContains(t, err, "none of the 1 instructions")
	_, err = view.ReadOverlays("o.json", []byte(`[`), p)
	assert.ErrorContains(t, err, "this is no overlay")
}

func TestReadProfile(t *testing.T) {
	p, err := view.New("m.hlo", parsed(t, loop), analysis.OneCore)
	require.NoError(t, err)
	o, err := view.ReadOverlays("p.json", []byte(`{"file":"m.hlo","ok":true,"profile":{"runs":3,"seconds":0.5,"ops":[
		{"name":"w","calls":1,"seconds":0.1,"total_seconds":0.4,"limit":"memory"},
		{"name":"fusion.1","of":["q","e"],"calls":2,"seconds":0.2,"total_seconds":0.2}]}}`), p)
	require.NoError(t, err)
	var said []string
	for _, v := range o[0].Values {
		said = append(said, fmt.Sprintf("%s %.2g %s", p.Names[v.Instr], v.Number, v.Label))
	}
	assert.Equal(t, []string{"w 0.1 1e+05 µs, called 1 ×, limited by memory", "q 0.1 part of fusion.1: 2e+05 µs, called 2 ×", "e 0.1 part of fusion.1: 2e+05 µs, called 2 ×"}, said)
	w, _ := p.Index("w")
	assert.True(t, p.Measured)
	assert.InDelta(t, 0.4, p.Seconds[w], 1e-9, "a loop takes what is in it")
	assert.InDelta(t, 0.5, p.Total, 1e-9)
}

func TestReadMemory(t *testing.T) {
	p, err := view.New("m.hlo", parsed(t, loop), analysis.OneCore)
	require.NoError(t, err)
	all, err := view.ReadOverlays("m.json", []byte(`{"file":"m.hlo","ok":true,"memory":{"peak_bytes":64,
		"steps":[{"name":"q","live_bytes":32},{"name":"fusion.1","live_bytes":64}],
		"buffers":[{"name":"q","kind":"temporary","bytes":32,"keeper":"w","at_peak":true},{"name":"fusion.1","of":["e"],"kind":"result","bytes":32}]}}`), p)
	require.NoError(t, err)
	require.Len(t, all, 2)
	q, _ := p.Index("q")
	e, _ := p.Index("e")
	assert.Equal(t, []view.Value{{Instr: q, Number: 32}, {Instr: e, Number: 64}}, all[0].Values)
	assert.Equal(t, []view.Value{{Instr: q, Number: 32, Label: "32 bytes, kept for %w"}}, all[1].Values)
}

func TestWritePage(t *testing.T) {
	p, err := view.New(`<m>.hlo`, parsed(t, loop), analysis.OneCore)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, view.WritePage(&b, p))
	page := b.String()
	assert.NotContains(t, page, "{{")
	assert.NotContains(t, page, "<m>")
	assert.NotRegexp(t, `(src|href)="?(https?:)?//`, page, "nothing is fetched from elsewhere")
	assert.Contains(t, page, "Copyright (c) 2012-2014 Chris Pettitt", "dagre's licence goes with it")
}

// TestServe asks as a browser does, and as others might.
func TestServe(t *testing.T) {
	path := t.TempDir() + "/prog.hlo"
	require.NoError(t, os.WriteFile(path, []byte(loop), 0o666))
	address := strings.TrimSuffix(strings.TrimPrefix(served(t, path), "http://"), "/")
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	r := textproto.NewReader(bufio.NewReader(conn))
	ask := func(request, host string) (status string, body []byte) {
		fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\n\r\n", request, host)
		status, err := r.ReadLine()
		require.NoError(t, err)
		header, err := r.ReadMIMEHeader()
		require.NoError(t, err)
		var n int
		fmt.Sscan(header.Get("Content-Length"), &n)
		body = make([]byte, n)
		_, err = r.R.Read(body[:min(n, 1)])
		require.NoError(t, err)
		for at := 1; at < n; {
			k, err := r.R.Read(body[at:])
			require.NoError(t, err)
			at += k
		}
		return status, body
	}
	status, page := ask("GET /", address)
	assert.Equal(t, "HTTP/1.1 200 OK", status)
	assert.Contains(t, string(page), "<!doctype html>")
	_, names := ask("GET /programs", "localhost:1")
	assert.Contains(t, string(names), "prog.hlo")
	_, columns := ask("GET /program/0", address)
	var p view.Program
	require.NoError(t, json.Unmarshal(columns, &p))
	assert.Equal(t, "m", p.Name)
	status, _ = ask("GET /program/7", address)
	assert.Equal(t, "HTTP/1.1 404 Not Found", status)
	status, _ = ask("GET /../../etc/passwd", address)
	assert.Equal(t, "HTTP/1.1 404 Not Found", status)
	status, _ = ask("GET /", "evil.example:80")
	assert.Equal(t, "HTTP/1.1 403 Forbidden", status, "a name that somebody made point to this machine")
	status, _ = ask("POST /", address)
	assert.Equal(t, "HTTP/1.1 405 Method Not Allowed", status)
}
