package timeline_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/timeline"
)

func TestWrite(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, timeline.Write(&out, []timeline.Process{{Name: "main", Spans: []timeline.Span{
		{Name: "a", Opcode: "add", Shape: "f32[]", Begin: 2, End: 3},
		{Name: "s", Waits: true, Async: true, Begin: 1, End: 3},
		{Name: "t", Waits: true, Async: true, Begin: 2, End: 4},
		{Name: "u", Waits: true, Async: true, Begin: 3, End: 4, OpName: "f"},
	}}, {Name: "messages", Waiting: "comm", Spans: []timeline.Span{{Name: "r", Waits: true, Peer: "to rank 1", Bytes: 8, Begin: 1, End: 2}}}}))
	assert.Equal(t, `[
{"name":"process_name","ph":"M","ts":0,"pid":0,"tid":0,"args":{"name":"main"}},
{"name":"thread_name","ph":"M","ts":0,"pid":0,"tid":1,"args":{"name":"waiting 0"}},
{"name":"s","cat":"async","ph":"X","ts":0,"dur":2000000,"pid":0,"tid":1},
{"name":"thread_name","ph":"M","ts":0,"pid":0,"tid":0,"args":{"name":"worker 0"}},
{"name":"a","cat":"kernel","ph":"X","ts":1000000,"dur":1000000,"pid":0,"tid":0,"args":{"opcode":"add","shape":"f32[]"}},
{"name":"thread_name","ph":"M","ts":0,"pid":0,"tid":2,"args":{"name":"waiting 1"}},
{"name":"t","cat":"async","ph":"X","ts":1000000,"dur":2000000,"pid":0,"tid":2},
{"name":"u","cat":"async","ph":"X","ts":2000000,"dur":1000000,"pid":0,"tid":1,"args":{"op_name":"f"}},
{"name":"process_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"messages"}},
{"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"comm 0"}},
{"name":"r","cat":"message","ph":"X","ts":0,"dur":1000000,"pid":1,"tid":0,"args":{"bytes":8,"peer":"to rank 1"}}
]
`, out.String())

	out.Reset()
	require.NoError(t, timeline.Write(&out, nil))
	assert.Equal(t, "[\n]\n", out.String())
}
