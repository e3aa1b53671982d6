package runtime

import "fmt"

// space is a piece of memory that cannot overlap another: the frame, or a buffer of the caller.
type space struct {
	kind  SlotKind
	index int64
}

// region is a range of bytes.
type region struct {
	space  space
	lo, hi int64
}

func (r region) overlaps(s region) bool { return r.space == s.space && r.lo < s.hi && s.lo < r.hi }

func (r region) String() string {
	if r.space.kind == SlotArena {
		return fmt.Sprintf("arena [%d,%d)", r.lo, r.hi)
	}
	return fmt.Sprintf("%v(%d)", r.space.kind, r.space.index)
}

// region returns the memory of a register; ok is false for constants and tokens.
func (c *planChecker) region(r int32) (_ region, ok bool) {
	reg := &c.t.regs[r]
	s := reg.Slot
	if reg.Bytes == 0 {
		return region{}, false
	}
	switch s.Kind {
	case SlotArena:
		return region{space{SlotArena, 0}, s.Index, s.Index + reg.Bytes}, true
	case SlotArg:
		if i, ok := c.over[s.Index]; ok {
			return region{space{SlotOut, i}, 0, reg.Bytes}, true
		}
		return region{space{SlotArg, s.Index}, 0, reg.Bytes}, true
	case SlotOut:
		return region{space{SlotOut, s.Index}, 0, reg.Bytes}, true
	}
	return region{}, false
}

// read checks that register r still has its value.
func (c *planChecker) read(r int32) error {
	m, ok := c.region(r)
	if !ok {
		return nil
	}
	for _, f := range c.flights {
		for _, w := range f.writes {
			if w.overlaps(m) {
				return c.fail("reads register %d in %v, which the async operation started by kernel %d is writing", r, m, f.kernel)
			}
		}
	}
	if v, is := c.segments(m.space).uniform(m.lo, m.hi); !is || v != c.versions[r] {
		return c.fail("reads register %d in %v after it was overwritten", r, m)
	}
	return nil
}

// overwrite notes that a range has new contents.
func (c *planChecker) overwrite(m region) (version int, err error) {
	for _, f := range c.flights {
		for _, busy := range [][]region{f.writes, f.reads} {
			for _, b := range busy {
				if b.overlaps(m) {
					return 0, c.fail("writes %v, which the async operation started by kernel %d is using", m, f.kernel)
				}
			}
		}
	}
	c.latest++
	c.segments(m.space).set(m.lo, m.hi, c.latest)
	return c.latest, nil
}

func (c *planChecker) write(r int32) error {
	m, ok := c.region(r)
	if !ok {
		return nil
	}
	v, err := c.overwrite(m)
	c.versions[r] = v
	return err
}

func (c *planChecker) segments(s space) *segments {
	if c.spaces[s] == nil {
		c.spaces[s] = &segments{}
	}
	return c.spaces[s]
}
