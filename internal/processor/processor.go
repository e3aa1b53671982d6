// Package processor says which processor this is, for choices between ways that give the same result: which one is faster differs from maker to maker.
package processor

import "sync"

// Zen4 is the family of Zen 4, as [AMDFamily] returns it, and of Zen 3. Zen 5 is of the next.
const Zen4 = 0x19

// AMDFamily is the family of a processor of AMD, or 0 if another one made it. It is safe for concurrent use.
//
// Source: AMD64 Architecture Programmer's Manual, volume 3, appendix E: functions 0 and 1.
var AMDFamily = sync.OnceValue(func() int {
	const auth = 'A' | 'u'<<8 | 't'<<16 | 'h'<<24 // the first letters of AuthenticAMD
	_, maker := identify(0)
	if maker != auth {
		return 0
	}
	version, _ := identify(1)
	family := int(version >> 8 & 15)
	if family == 15 {
		family += int(version >> 20 & 255)
	}
	return family
})
