// Package play makes a page in which halo runs: viewer, formatter, verifier, passes and execution, as WebAssembly. The page is one static file.
//
//	b, err := play.Build(ctx, "/src/halo")   // with the Go toolchain, from a clone of the repository
//	err = play.WritePage(w, b)
//
// The WebAssembly is neither in the repository nor in the command, which it would triple: the command builds it from source when it is asked for the page,
// and whoever has the page needs nothing.
package play

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gohalo/halo/internal/view"
)

//go:embed page
var files embed.FS

// Binary is halo as a browser runs it.
type Binary struct {
	Wasm []byte
	Exec []byte // the script of the Go toolchain that runs what this toolchain has built
}

// command is the package that is built.
const command = "github.com/gohalo/halo/cmd/halo-play"

// Build builds the binary from the clone of the repository that dir is in.
func Build(ctx context.Context, dir string) (*Binary, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("the page is built by the Go toolchain, and there is no command go")
	}
	out, err := os.CreateTemp("", "halo-*.wasm")
	if err != nil {
		return nil, err
	}
	out.Close()
	defer os.Remove(out.Name())
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out.Name(), command)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building %s in %s: %w\n%s\nhint: the page is built from a clone of the repository: --source=DIR says where one is", command, dir, err, bytes.TrimSpace(text))
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	b := &Binary{}
	if b.Exec, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")); err != nil {
		return nil, err
	}
	b.Wasm, err = os.ReadFile(out.Name())
	return b, err
}

// WritePage writes the page.
func WritePage(w io.Writer, b *Binary) error {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(b.Wasm); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	var viewer bytes.Buffer
	if err := view.WritePage(&viewer); err != nil {
		return err
	}
	examples, err := examples()
	if err != nil {
		return err
	}
	// Texts within scripts: JSON escapes < and >, so that nothing ends the script.
	data, err := json.Marshal(map[string]any{"viewer": viewer.String(), "examples": examples})
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(
		"{{style}}", file("play.css"),
		"{{data}}", string(data),
		"{{wasm}}", base64.StdEncoding.EncodeToString(packed.Bytes()),
		"{{exec}}", strings.ReplaceAll(string(b.Exec), "</script", `<\/script`),
		"{{script}}", file("play.js"),
	).WriteString(w, file("play.html"))
	return err
}

func file(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// example is a program that the page offers.
type example struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func examples() (all []example, err error) {
	found, err := files.ReadDir("page/examples")
	for _, f := range found {
		all = append(all, example{f.Name(), file("examples/" + f.Name())})
	}
	return all, err
}
