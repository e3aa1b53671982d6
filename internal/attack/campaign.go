//go:build unix

package attack

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"
)

// The flags of campaigns. Only tests import this package.
var (
	attackFor  = flag.Duration("attack.for", 0, "how long to go on; 0 tries a few thousand mutants")
	attackMost = flag.Int("attack.count", 0, "how many mutants to try, with -attack.for at most; 0 is no limit")
	attackFrom = flag.Uint64("attack.from", 1, "the first mutant")
	attackShow = flag.Int("attack.show", 5, "findings to show")
	attackLog  = flag.String("attack.log", "", "a file that names the mutant under way, for what ends the process")
)

// every is how often a long campaign says how far it is.
const every = time.Minute

// The limits beyond which a mutant counts as hanging, or as slow.
const (
	hangs = 2 * time.Minute
	slow  = 5 * time.Second
)

// Campaign tries mutants one after the other: some, or as long as -attack.for says. An error of try is a finding.
func Campaign(t *testing.T, some int, try func(seed uint64) (Fate, error)) {
	t.Helper()
	if testing.Short() {
		some /= 10
	}
	began := time.Now()
	fates := make(map[Fate]int)
	findings, late, n := 0, 0, 0
	report := func() {
		t.Logf("%d mutants from %d in %v: %v; %d findings, %d slow", n, *attackFrom, time.Since(began).Round(time.Second), fates, findings, late)
	}
	reported := began
	for seed := *attackFrom; ; seed++ {
		if *attackFor == 0 && n >= some || *attackFor > 0 && time.Since(began) > *attackFor || *attackMost > 0 && n >= *attackMost {
			break
		}
		if time.Since(reported) > every {
			report()
			reported = time.Now()
		}
		n++
		if *attackLog != "" {
			_ = os.WriteFile(*attackLog, fmt.Appendf(nil, "%s -attack.from=%d\n", t.Name(), seed), 0o666)
		}
		start := time.Now()
		watchdog := time.AfterFunc(hangs, func() { panic(fmt.Sprintf("%s: mutant %d hangs", t.Name(), seed)) })
		fate, err := try(seed)
		watchdog.Stop()
		fates[fate]++
		if time.Since(start) > slow {
			late++
		}
		if err != nil {
			if findings++; findings <= *attackShow {
				t.Errorf("mutant %d: %.8000s", seed, err)
			}
		}
	}
	report()
}
