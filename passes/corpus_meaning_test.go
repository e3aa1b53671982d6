package passes_test

import (
	"context"
	"errors"
	"flag"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/verifier"
)

var corpusEvery = flag.Int("corpus-every", 4, "of the modules of the corpus, compare one in so many")

// mostElements bounds the arrays of the programs that are compared: the evaluator computes one element after the other.
const mostElements = 1 << 18

// TestCorpusKeepsMeaning runs the pipelines of the command line over modules of the corpus, which the evaluator then runs before and after on the same
// inputs: every bit of every result is the same. Modules that are not legal, that need other devices, a host or a library, whose constants the dump
// leaves out, or that have an array of more than mostElements are left out; of the others at most one in twenty may fail to run, and so be left
// uncompared: loops that do not end on any input, sizes beyond their bounds.
//
//	go test ./passes -run CorpusKeepsMeaning -corpus-every 1 -v
func TestCorpusKeepsMeaning(t *testing.T) {
	if testing.Short() {
		t.Skip("evaluates hundreds of programs")
	}
	texts := hlotest.XLATests(t, 1)
	texts = append(texts, hlotest.Files(t, 1, "reference", "programs")...)
	var lock sync.Mutex
	compared, skipped, reasons := 0, 0, map[string]int{}
	work := make(chan hlotest.Text)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for row := range work {
				m, ok := standsAlone(row)
				if !ok {
					continue
				}
				reason := keepsBits(t, row.ID, m)
				lock.Lock()
				if reason == "" {
					compared++
				} else {
					skipped++
					reasons[reason]++
				}
				lock.Unlock()
			}
		})
	}
	for i, row := range texts {
		if i%*corpusEvery == 0 {
			work <- row
		}
	}
	close(work)
	wait.Wait()
	t.Logf("%d modules compared, %d not: %v", compared, skipped, reasons)
	assert.LessOrEqual(t, 20*skipped, compared+skipped, "not compared: %v", reasons)
}

// standsAlone reports whether the text is a legal program of one device without a host, whose constants are there.
func standsAlone(row hlotest.Text) (hlo.Module, bool) {
	if len(row.Text) > 1<<18 {
		return hlo.Module{}, false
	}
	m, err := parser.Parse(row.ID, row.Text)
	if err != nil || verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err() != nil {
		return m, false
	}
	if c := m.Config(); max(c.NumPartitions, 1)*max(c.ReplicaCount, 1) > 1 {
		return m, false
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			const others = hlo.TraitCollective | hlo.TraitTokens | hlo.TraitRandom
			if hlo.Info(in.Opcode()).Traits&others != 0 || in.Opcode() == hlo.OpCustomCall || in.Opcode() == hlo.OpConstant && in.Literal().IsElided() {
				return m, false
			}
			for _, leaf := range in.Shape().Leaves {
				if leaf.IsArray() && leaf.NumElements() > mostElements {
					return m, false
				}
			}
		}
	}
	return m, true
}

// keepsBits compares, and says why it could not.
func keepsBits(t *testing.T, id string, m hlo.Module) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	reference := shadow.NewReference(m, shadow.Config{})
	for _, name := range []string{"O2", "O3", "cpu", "cpu-async"} {
		p, err := passes.Parse(name)
		require.NoError(t, err)
		after, err := (&pass.Runner{}).Run(ctx, p, m)
		if !assert.NoError(t, err, "%s: %s", id, name) {
			return ""
		}
		err = reference.Compare(ctx, after)
		switch {
		case errors.Is(err, shadow.ErrSkipped), ctx.Err() != nil:
			reason := "time"
			if err != nil {
				lines := strings.Split(err.Error(), "\n")
				reason = lines[0][max(0, len(lines[0])-60):]
			}
			return reason
		case err != nil:
			assert.NoError(t, err, "%s: %s", id, name)
		}
	}
	return ""
}
