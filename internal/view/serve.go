package view

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Site is what is served: the page and its programs, which are read when somebody opens them.
type Site struct {
	Names []string                      // of the programs
	Load  func(k int) (*Program, error) // may be called by several goroutines
	// Files are further files by their path without the slash, such as a page of its own under "".
	Files map[string][]byte
}

// Serve answers HTTP requests until ctx ends. It serves this machine alone: connections from elsewhere, and pages of other sites that have
// found the port, are refused. It speaks just the part of HTTP/1.1 that a browser needs for GET: net/http would make the command a seventh larger.
func Serve(ctx context.Context, l net.Listener, s *Site) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		open.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			s.converse(conn)
		})
	}
}

// converse answers the requests of a connection, one after the other.
func (s *Site) converse(conn net.Conn) {
	const longestLine, mostHeaders, idle = 8 << 10, 100, 2 * time.Minute
	r := bufio.NewReaderSize(conn, longestLine)
	for {
		if conn.SetReadDeadline(time.Now().Add(idle)) != nil {
			return
		}
		line, err := readLine(r)
		if err != nil {
			return
		}
		method, rest, _ := strings.Cut(line, " ")
		path, version, _ := strings.Cut(rest, " ")
		host := ""
		for n := 0; ; n++ {
			h, err := readLine(r)
			if err != nil || n > mostHeaders {
				return
			}
			if h == "" {
				break
			}
			if key, value, _ := strings.Cut(h, ":"); strings.EqualFold(key, "Host") {
				host = strings.TrimSpace(value)
			}
		}
		status, kind, body := "200 OK", "text/plain; charset=utf-8", []byte(nil)
		switch {
		case !strings.HasPrefix(version, "HTTP/1.") || method != "GET":
			status, body = "405 Method Not Allowed", []byte("want GET\n")
		case !isLocal(host):
			status, body = "403 Forbidden", []byte("this is for localhost alone\n")
		default:
			var known bool
			kind, body, known, err = s.answer(strings.TrimPrefix(path, "/"))
			switch {
			case err != nil:
				status, kind, body = "422 Unprocessable Content", "text/plain; charset=utf-8", []byte(err.Error())
			case !known:
				status, kind, body = "404 Not Found", "text/plain; charset=utf-8", []byte("there is no "+path+"\n")
			}
		}
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n", status, kind, len(body)); err != nil {
			return
		}
		if _, err := conn.Write(body); err != nil || method != "GET" {
			return
		}
	}
}

// readLine reads a line of at most the buffer's length, without its end.
func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	return strings.TrimRight(string(line), "\r\n"), err
}

// isLocal reports whether a request was meant for this machine by name: a name that somebody else made point here is not.
func isLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// answer is what stands at a path.
func (s *Site) answer(path string) (kind string, body []byte, known bool, err error) {
	path, _, _ = strings.Cut(path, "?")
	if body, ok := s.Files[path]; ok {
		return kindOf(path), body, true, nil
	}
	var b bytes.Buffer
	switch number, isProgram := strings.CutPrefix(path, "program/"); {
	case path == "":
		err = WritePage(&b)
		return "text/html; charset=utf-8", b.Bytes(), true, err
	case path == "programs":
		err = json.NewEncoder(&b).Encode(s.Names)
		return "application/json", b.Bytes(), true, err
	case isProgram:
		k, wrong := strconv.Atoi(number)
		if wrong != nil || k < 0 || k >= len(s.Names) {
			return "", nil, false, nil
		}
		p, err := s.Load(k)
		if err != nil {
			return "", nil, true, err
		}
		err = json.NewEncoder(&b).Encode(p)
		return "application/json", b.Bytes(), true, err
	}
	return "", nil, false, nil
}

func kindOf(path string) string {
	switch {
	case path == "" || strings.HasSuffix(path, ".html"):
		return "text/html; charset=utf-8"
	case strings.HasSuffix(path, ".wasm"):
		return "application/wasm"
	case strings.HasSuffix(path, ".js"):
		return "text/javascript; charset=utf-8"
	}
	return "application/octet-stream"
}
