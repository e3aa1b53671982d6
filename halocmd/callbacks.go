package halocmd

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/gohalo/halo"
)

// hostCallback answers the calls of a program into Python as --host-callbacks says; nil refuses them.
func (c *runCmd) hostCallback(e *env) func(*halo.HostCall) error {
	switch c.HostCallbacks {
	case "fail":
		return nil
	case "skip":
		return func(*halo.HostCall) error { return nil }
	}
	var one sync.Mutex // a program may call from several goroutines
	return func(call *halo.HostCall) error {
		var b strings.Builder
		if call.Position != "" {
			b.WriteString(call.Position + ": ")
		}
		b.WriteString("host callback")
		if m := callbackIndex().FindStringSubmatch(call.Config); m != nil {
			b.WriteString(" " + m[1])
		}
		for i, a := range call.Args {
			b.WriteString([]string{": ", ", "}[min(i, 1)])
			text := a.AppendText(nil)
			if len(text) > maxCallbackText {
				text = append(text[:maxCallbackText], "..."...)
			}
			fmt.Fprintf(&b, "%v %s", a.Shape().WithoutLayout(), text)
		}
		one.Lock()
		defer one.Unlock()
		fmt.Fprintln(e.stderr, b.String())
		if len(call.Results) > 0 && c.HostCallbacks == "print" {
			return &halo.NoHostCallback{Target: call.Target}
		}
		return nil
	}
}

// maxCallbackText is how much of an array is printed.
const maxCallbackText = 1000

// callbackIndex finds the number of the function, as the configurations of the typed interface have it, in MLIR or JSON.
var callbackIndex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"?index"?\s*[=:]\s*"?(\d+)`) })
