//go:build js && wasm

// Halo-play is the command halo for browsers: WebAssembly that gives a page two functions.
//
//	halo.run(args, input)  runs a command line; input is its standard input. {code, out, err}
//	halo.program(text)     the columns of a program, as halo view shows it, as JSON text, or an error
//
// Package internal/play builds it into a page; halo play is the command that does so.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"syscall/js"

	"github.com/gohalo/halo/halocmd"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/internal/view"
	"github.com/gohalo/halo/verifier"
)

func main() {
	js.Global().Set("halo", map[string]any{
		"run":     promised(run),
		"program": promised(program),
	})
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("halo"))
	select {} // the page calls
}

// promised makes a function whose work may block, as Go code may, one that gives a promise.
func promised(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		executor := js.FuncOf(func(_ js.Value, settle []js.Value) any {
			go func() {
				result, err := f(args)
				if err != nil {
					settle[1].Invoke(js.Global().Get("Error").New(err.Error()))
					return
				}
				settle[0].Invoke(result)
			}()
			return nil
		})
		defer executor.Release()
		return js.Global().Get("Promise").New(executor)
	})
}

func run(args []js.Value) (any, error) {
	words := make([]string, args[0].Length())
	for i := range words {
		words[i] = args[0].Index(i).String()
	}
	var out, errs bytes.Buffer
	code := halocmd.Run(words, strings.NewReader(args[1].String()), &out, &errs)
	return map[string]any{"code": code, "out": out.String(), "err": errs.String()}, nil
}

func program(args []js.Value) (any, error) {
	const name = "program"
	m, err := source.Read(name, []byte(args[0].String()), source.Options{Text: parser.Config{KeepZeroSigns: true}})
	if err != nil {
		return nil, err
	}
	if err := verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err(); err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n\n", "\n"))
	}
	p, err := view.New(name, m, analysis.OneCore)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	return string(text), err
}
