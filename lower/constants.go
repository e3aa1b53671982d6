package lower

import (
	"crypto/sha256"

	"github.com/gohalo/halo/runtime"
)

// constants collects the data of the constants section, equal data once.
type constants struct {
	data []byte
	seen map[[sha256.Size]byte]int64
}

// add returns the offset of data in the section.
func (c *constants) add(data []byte) int64 {
	key := sha256.Sum256(data)
	if at, ok := c.seen[key]; ok {
		return at
	}
	if c.seen == nil {
		c.seen = make(map[[sha256.Size]byte]int64)
	}
	for len(c.data)%runtime.ConstantAlign != 0 {
		c.data = append(c.data, 0)
	}
	at := int64(len(c.data))
	c.data = append(c.data, data...)
	c.seen[key] = at
	return at
}
