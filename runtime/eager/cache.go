package eager

import (
	"container/list"
	"sync"
)

// cache keeps what was made for a text, up to a number of entries; of more than that it forgets those that were not used for the longest time.
type cache[V any] struct {
	mu     sync.Mutex
	limit  int
	byText map[string]*list.Element
	recent list.List // *entry[V], the one used last in front
	stats  CacheStats
}

type entry[V any] struct {
	text  string
	value V
}

// CacheStats counts what a cache was asked for.
type CacheStats struct {
	Entries, Hits, Misses, Evictions int
}

func newCache[V any](limit int) *cache[V] {
	return &cache[V]{limit: limit, byText: make(map[string]*list.Element)}
}

// get returns what is kept for a text.
func (c *cache[V]) get(text []byte) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byText[string(text)]
	if e == nil {
		c.stats.Misses++
		return v, false
	}
	c.stats.Hits++
	c.recent.MoveToFront(e)
	return e.Value.(*entry[V]).value, true
}

// put keeps a value, unless somebody was faster, and returns the value that is kept.
func (c *cache[V]) put(text []byte, v V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byText[string(text)]; e != nil {
		return e.Value.(*entry[V]).value
	}
	key := string(text)
	c.byText[key] = c.recent.PushFront(&entry[V]{key, v})
	for len(c.byText) > c.limit {
		last := c.recent.Back()
		c.recent.Remove(last)
		delete(c.byText, last.Value.(*entry[V]).text)
		c.stats.Evictions++
	}
	return v
}

func (c *cache[V]) statistics() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries = len(c.byText)
	return s
}
