// Package packed compresses and decompresses what files hold, with a limit on what a small file may grow to.
package packed

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Data may grow to mayUnpack bytes, and beyond to maxRatio times its size: programs do not shrink more, unless they are small
// or, which is the same, have large constants of one value.
const (
	maxRatio  = 200
	mayUnpack = 256 << 20
)

// Limit bounds what data of that many bytes may grow to.
func Limit(size int) int64 { return max(int64(size)*maxRatio, mayUnpack) }

// IsGzip reports whether data begins as gzip does.
func IsGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// Unpack undoes [Pack].
func Unpack(data []byte) ([]byte, error) {
	if !IsGzip(data) {
		return data, nil
	}
	return Gunzip(data, int64(len(data))*packRatio)
}

// Pack compresses data of short or more bytes, for which decompressing is worth its time, unless it would not get smaller, or
// smaller by more than packRatio: [Unpack] refuses such data, as a file should not make its reader take much more memory than it has bytes.
const (
	short     = 128
	packRatio = 32
)

// Pack compresses data with gzip where that helps; otherwise it returns data itself, which must not look like gzip.
func Pack(data []byte) []byte {
	if len(data) < short {
		return data
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data) // a buffer takes all
	_ = w.Close()
	if b.Len() >= len(data) || len(data) > b.Len()*packRatio {
		return data
	}
	return b.Bytes()
}

// readers holds readers of gzip, whose window is larger than most of what they read.
var readers sync.Pool

// Gunzip decompresses data, to at most limit bytes.
func Gunzip(data []byte, limit int64) ([]byte, error) {
	r, _ := readers.Get().(*gzip.Reader)
	if r == nil {
		r = new(gzip.Reader)
	}
	defer readers.Put(r)
	if err := r.Reset(bytes.NewReader(data)); err != nil {
		return nil, cutShort(err)
	}
	// The data ends in the size, which need not be true.
	size := int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
	out := bytes.NewBuffer(make([]byte, 0, min(size, limit, int64(len(data))*maxRatio)+bytes.MinRead))
	if _, err := out.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, cutShort(err)
	}
	if int64(out.Len()) > limit {
		return nil, fmt.Errorf("unpacks to more than %d bytes", limit)
	}
	return out.Bytes(), nil
}

func cutShort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("gzip: the file is cut short")
	}
	return err
}
