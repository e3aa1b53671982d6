package source

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// A compressed file may grow to mayUnpack bytes, and beyond to maxRatio times its size: programs do not shrink more, unless they are small
// or, which is the same, have large constants of one value.
const (
	maxRatio  = 200
	mayUnpack = 256 << 20
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
	if formats[Gzip].is(data) {
		limit = min(limit, max(int64(len(data))*maxRatio, mayUnpack))
		var err error
		if data, err = gunzip(data, limit); err != nil {
			return nil, err
		}
	}
	return bytes.TrimPrefix(data, byteOrderMark), nil
}

// IsPlain reports whether [Unpack] has nothing to do.
func IsPlain(data []byte) bool {
	return !formats[Gzip].is(data) && !bytes.HasPrefix(data, byteOrderMark)
}

// gunzip decompresses at most limit bytes.
func gunzip(data []byte, limit int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	var out []byte
	if err == nil {
		out, err = io.ReadAll(io.LimitReader(r, limit+1))
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("gzip: the file is cut short")
	case err == nil && int64(len(out)) > limit:
		err = fmt.Errorf("unpacks to more than %d bytes", limit)
	}
	return out, err
}
