package halocmd

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &progress{out: &out}
		p.begin("a.hlo")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Empty(t, out.String(), "what is quick is not worth a line")
		p.at("running")
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "a.hlo: running, 2 s\r\x1b[Ka.hlo: running, 3 s", out.String())
		out.Reset()
		p.loops().Add(12)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, "\r\x1b[Ka.hlo: running, 12 rounds of loops, 4 s", out.String())
		out.Reset()
		fmt.Fprintln(p.over(&out), "warning")
		assert.Equal(t, "\r\x1b[Kwarning\n", out.String(), "the line is out of the way of others")
		out.Reset()
		p.end()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(t, out.String())
	})
}

func TestNoProgressWithoutTerminal(t *testing.T) {
	p := newProgress(new(bytes.Buffer))
	require.Nil(t, p)
	p.begin("a")
	p.at("b")
	p.end()
	w := new(bytes.Buffer)
	assert.Same(t, w, p.over(w))
}
