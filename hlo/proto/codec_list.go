package proto

import (
	"slices"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// listCodec is a list of what takes a tag for each element. All elements are written, whatever they are.
type listCodec[E any] struct{ element codec }

func (c listCodec[E]) read(p unsafe.Pointer, typ protowire.Type, b []byte, depth int) (int, error) {
	list := (*[]E)(p)
	i := len(*list)
	var zero E
	*list = append(*list, zero)
	n, err := c.element.read(unsafe.Pointer(&(*list)[i]), typ, b, depth)
	if err != nil {
		return n, within(err, at("", i))
	}
	return n, nil
}

func (listCodec[E]) unset(p unsafe.Pointer) bool { return len(*(*[]E)(p)) == 0 }

func (c listCodec[E]) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	list := *(*[]E)(p)
	for i := range list {
		b = c.element.put(b, num, unsafe.Pointer(&list[i]))
	}
	return b
}

// intsCodec is a list of integers, packed or one by one.
type intsCodec struct{}

func (intsCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	return readInts(p, typ, b, func(x uint64) int64 { return int64(x) })
}

func (intsCodec) unset(p unsafe.Pointer) bool { return len(*(*[]int64)(p)) == 0 }

func (intsCodec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	b, start := openMessage(b, num)
	for _, x := range *(*[]int64)(p) {
		b = protowire.AppendVarint(b, uint64(x))
	}
	return closeMessage(b, start)
}

// boolsCodec is intsCodec of booleans.
type boolsCodec struct{}

func (boolsCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	return readInts(p, typ, b, func(x uint64) bool { return x != 0 })
}

func (boolsCodec) unset(p unsafe.Pointer) bool { return len(*(*[]bool)(p)) == 0 }

func (boolsCodec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	list := *(*[]bool)(p)
	b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.BytesType), uint64(len(list)))
	for _, x := range list {
		b = protowire.AppendVarint(b, protowire.EncodeBool(x))
	}
	return b
}

func readInts[T any](p unsafe.Pointer, typ protowire.Type, b []byte, value func(uint64) T) (int, error) {
	list := (*[]T)(p)
	if typ == protowire.VarintType {
		x, n := protowire.ConsumeVarint(b)
		*list = append(*list, value(x))
		return n, nil
	}
	packed, n, err := readBytes(typ, b)
	if n < 0 || err != nil {
		return n, err
	}
	*list = slices.Grow(*list, countVarints(packed))
	for len(packed) > 0 {
		x, k := protowire.ConsumeVarint(packed)
		if k < 0 {
			return k, nil
		}
		packed = packed[k:]
		*list = append(*list, value(x))
	}
	return n, nil
}

// countVarints is the number of varints in b.
func countVarints(b []byte) int {
	n := 0
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	return n
}

// packedCodec is a list of numbers that is left as it is when packed.
type packedCodec struct{ element protowire.Type }

func (c packedCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	var x []byte
	var n int
	var err error
	if typ == c.element {
		n = protowire.ConsumeFieldValue(1, typ, b)
		x = b[:max(n, 0):max(n, 0)]
	} else {
		x, n, err = readBytes(typ, b)
	}
	if n < 0 || err != nil {
		return n, err
	}
	if list := (*[]byte)(p); len(*list) == 0 {
		*list = x // clipped, so that nothing is ever added in place
	} else {
		*list = append(*list, x...)
	}
	return n, nil
}

func (packedCodec) unset(p unsafe.Pointer) bool { return len(*(*[]byte)(p)) == 0 }

func (packedCodec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	return bytesCodec{}.put(b, num, p)
}
