// Package browser drives a headless Chromium, for tests of pages and for pictures of them.
//
//	b, err := browser.Start()            // ErrNone where there is no browser
//	p, err := b.Open("file:///…")
//	err = p.Click("#button")
//	err = p.Eval("document.title", &title)
//
// It speaks the protocol of Chrome's developer tools over two pipes, so that nothing listens on a port.
package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// ErrNone says that no browser is installed.
var ErrNone = errors.New("there is no Chromium or Chrome on this machine")

// Browser is a running browser.
type Browser struct {
	cmd  *exec.Cmd
	to   *os.File
	dir  string
	done chan struct{} // closed when the browser has gone

	mu      sync.Mutex
	next    int
	waiting map[int]chan answer
	errors  []string // of scripts, in all pages
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// patience is how long the browser may take for one command.
const patience = 60 * time.Second

// find is the browser's program; ErrNone if there is none. The variable HALO_BROWSER names another.
func find() (string, error) {
	if runtime.GOOS == "windows" { // a process there gets no pipes but the three
		return "", ErrNone
	}
	if path := os.Getenv("HALO_BROWSER"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}

// Start runs a browser with an empty profile.
func Start() (*Browser, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "halo-browser-")
	if err != nil {
		return nil, err
	}
	b := &Browser{dir: dir, done: make(chan struct{}), waiting: map[int]chan answer{}}
	in, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// Containers and continuous integration run as root and with little shared memory.
	b.cmd = exec.Command(path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
		"--no-first-run", "--disable-extensions", "--disable-background-networking", "--enable-precise-memory-info", "--user-data-dir="+dir, "about:blank")
	b.cmd.ExtraFiles = []*os.File{in, out} // 3 and 4, where the browser looks for them
	b.to = to
	err = b.cmd.Start()
	in.Close()
	out.Close()
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	go b.listen(from)
	return b, nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() error {
	_, _ = b.call("", "Browser.close", nil)
	b.to.Close()
	select {
	case <-b.done:
	case <-time.After(10 * time.Second):
		b.cmd.Process.Kill()
	}
	err := b.cmd.Wait()
	os.RemoveAll(b.dir)
	return err
}

// Errors are the uncaught exceptions of scripts.
func (b *Browser) Errors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.errors...)
}

// listen hands answers to those who wait for them.
func (b *Browser) listen(from *os.File) {
	defer close(b.done)
	defer from.Close()
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params struct {
				ExceptionDetails struct {
					Text      string
					Exception struct{ Description string }
				}
			}
			answer
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if m.Method == "Runtime.exceptionThrown" {
			d := m.Params.ExceptionDetails
			b.errors = append(b.errors, d.Text+" "+d.Exception.Description)
		}
		if wait, ok := b.waiting[m.ID]; ok && m.ID > 0 {
			delete(b.waiting, m.ID)
			wait <- m.answer
		}
		b.mu.Unlock()
	}
}

// call sends a command, to a page if session is not empty, and waits for the answer.
func (b *Browser) call(session, method string, params map[string]any) (json.RawMessage, error) {
	wait := make(chan answer, 1)
	b.mu.Lock()
	b.next++
	id := b.next
	b.waiting[id] = wait
	message := map[string]any{"id": id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case a := <-wait:
		if a.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, a.Error.Message)
		}
		return a.Result, nil
	case <-b.done:
		return nil, fmt.Errorf("%s: the browser has ended", method)
	case <-time.After(patience):
		return nil, fmt.Errorf("%s: no answer within %v", method, patience)
	}
}
