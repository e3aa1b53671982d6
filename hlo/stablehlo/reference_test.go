package stablehlo_test

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/internal/moddiff"
)

func TestTmpRef(t *testing.T) {
	pattern := os.Getenv("REF")
	if pattern == "" {
		pattern = "/tmp/stablehlo/ref/*/*.mlir"
	}
	files, _ := filepath.Glob(pattern)
	n, bad := 0, 0
	why := map[string]int{}
	for _, f := range files {
		ref, err := os.ReadFile(strings.TrimSuffix(f, ".mlir") + ".hlo")
		if err != nil {
			continue
		}
		n++
		src, _ := os.ReadFile(f)
		m, err := mlir.Parse(filepath.Base(f), string(src))
		if err != nil {
			t.Log(err)
			bad++
			continue
		}
		got, err := stablehlo.Convert(m, stablehlo.Options{})
		if err != nil {
			t.Log(f, err)
			bad++
			continue
		}
		want, err := parser.Parse(f, string(ref))
		if err != nil {
			t.Log(f, "REF", err)
			continue
		}
		d := moddiff.Find(want, got)
		if !d.Equal() {
			bad++
			var s strings.Builder
			for i, c := range d.Changes {
				if i > 3 {
					break
				}
				s.WriteString("\n   ")
				if !c.Old.IsZero() {
					s.WriteString("- " + c.Old.Name() + " " + c.Old.Opcode().String() + " " + c.Old.Shape().String())
				}
				if !c.New.IsZero() {
					s.WriteString(" + " + c.New.Name() + " " + c.New.Opcode().String() + " " + c.New.Shape().String())
				}
				s.WriteString(" " + strings.Join(c.What, ","))
			}
			for _, c := range d.Changes {
				k := ""
				if c.Old.IsZero() {
					k = "+" + c.New.Opcode().String()
				} else if c.New.IsZero() {
					k = "-" + c.Old.Opcode().String()
				} else {
					k = c.Old.Opcode().String() + " " + strings.Join(c.What, ",")
				}
				why[k]++
			}
			if bad < 40 || os.Getenv("REF") != "" {
				t.Log(filepath.Base(f), d.Header, len(d.Changes), len(d.OnlyOld), len(d.OnlyNew), s.String())
			}
		}
	}
	var keys []string
	for k := range why {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return why[keys[i]] > why[keys[j]] })
	for i, k := range keys {
		if i > 40 {
			break
		}
		t.Log(why[k], k)
	}
	t.Log(n, bad)
}
