package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gohalo/halo/internal/packed"
)

// MaxUnpacked bounds what a file may grow to when nothing else does.
const MaxUnpacked = 8 << 30

// byteOrderMark is what some editors begin a text with.
var byteOrderMark = []byte("\ufeff")

// Unpack returns the content of a file: decompressed, and without a byte order mark. It is data itself where there is nothing to
// remove. More than limit bytes are an error; 0 stands for [MaxUnpacked].
func Unpack(data []byte, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = MaxUnpacked
	}
	most, err := min(limit, packed.Limit(len(data))), error(nil)
	switch {
	case formats[Gzip].is(data):
		data, err = packed.Gunzip(data, most)
	case formats[Zstd].is(data):
		data, err = unzstd(data, most)
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimPrefix(data, byteOrderMark), nil
}

// IsPlain reports whether [Unpack] has nothing to do.
func IsPlain(data []byte) bool {
	return !formats[Gzip].is(data) && !formats[Zstd].is(data) && !bytes.HasPrefix(data, byteOrderMark)
}

// CutPacked removes the extension of a compressed file from a name.
func CutPacked(name string) string {
	for _, k := range []Kind{Gzip, Zstd} {
		for _, x := range formats[k].extensions {
			if cut, ok := strings.CutSuffix(name, x); ok {
				return cut
			}
		}
	}
	return name
}

// unzstd decompresses at most limit bytes.
func unzstd(data []byte, limit int64) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
	var out []byte
	if err == nil {
		defer r.Close()
		out, err = io.ReadAll(io.LimitReader(r, limit+1))
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("zstd: the file is cut short")
	case err != nil:
		err = fmt.Errorf("zstd: %w", err)
	case int64(len(out)) > limit:
		err = fmt.Errorf("unpacks to more than %d bytes", limit)
	}
	return out, err
}
