package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// codec reads and writes messages behind headers of their length, as the protocol has them. A message that opens a document may be large, and the
// library would decode and encode it half a dozen times on its way: its parameters are decoded here, once, and wait in opened until the message is
// handled. Messages are read and handled one after the other by one goroutine.
type codec struct {
	jsonrpc2.VSCodeObjectCodec // which writes
	opened                     *openParams
}

// isOpen finds the beginning of a message that opens a document, if its method stands in front of the text.
var isOpen = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^"]*("jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:\s*"textDocument/didOpen"`)
})

// longHead is how much of a message is looked at for its method.
const longHead = 200

// ReadObject reads the next message.
func (c *codec) ReadObject(stream *bufio.Reader, v any) error {
	n, err := contentLength(stream)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	body.Grow(int(min(n, 16<<20))) // what is declared need not come
	if m, err := body.ReadFrom(io.LimitReader(stream, n)); err != nil || m < n {
		return io.ErrUnexpectedEOF
	}
	message := body.Bytes()
	if isOpen().Match(message[:min(len(message), longHead)]) {
		var m struct {
			Params *openParams `json:"params"`
		}
		if err := json.Unmarshal(message, &m); err == nil && m.Params != nil {
			c.opened = m.Params
			message = []byte(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}`)
		}
	}
	return json.Unmarshal(message, v)
}

// contentLength reads the headers of a message.
func contentLength(stream *bufio.Reader) (n int64, err error) {
	for {
		line, err := stream.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		if name == "" {
			break
		}
		if ok && strings.EqualFold(name, "Content-Length") {
			if n, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
				return 0, err
			}
		}
	}
	if n <= 0 {
		return 0, fmt.Errorf("a message has no Content-Length")
	}
	return n, nil
}
