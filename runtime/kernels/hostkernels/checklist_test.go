package hostkernels_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
)

// notKernels lists names of the tables that are no kernels of the registry.
var notKernels = map[string]string{
	"tfrt.return":      "a terminator",
	"coo.print_tensor": "text only, as in TFRT",
}

// TestEveryKernelOfTheTables holds the registry against the kernel tables of the specification.
func TestEveryKernelOfTheTables(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "shared", "spec", "host-kernels.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no specification: %v", err)
	}
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	known := reg.Names()
	names := tableKernels(string(data))
	require.Greater(t, len(names), 200)
	for _, name := range names {
		if _, not := notKernels[name]; !not {
			assert.True(t, slices.Contains(known, name), "%s is not registered", name)
		}
	}
	t.Logf("%d kernels of the tables, %d registered", len(names), len(known))
}

// tableKernels expands the first cells of the rows of sections 6 to 9.
func tableKernels(text string) (names []string) {
	_, text, _ = strings.Cut(text, "\n## 6. ")
	text, _, _ = strings.Cut(text, "\n## 10. ")
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], " | ")
		cell, _, _ = strings.Cut(cell, "[S:")
		cell, _, _ = strings.Cut(cell, "(")
		last := ""
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			name := m[1]
			if strings.HasPrefix(name, ".") { // another ending of the name before
				base := last
				if strings.Contains(base, "{") {
					base = base[:strings.Index(base, "{")-1]
				} else {
					base = base[:strings.LastIndex(base, ".")]
				}
				name = base + name
			} else {
				last = name
			}
			if strings.Contains(name, "*") {
				continue // a family, listed in words
			}
			names = append(names, expand(name)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var ranges = strings.NewReplacer("{0…3}", "{0,1,2,3}", "{0…4}", "{0,1,2,3,4}",
	".DT", ".{ui8,ui16,ui32,ui64,i8,i32,i64,f16,bf16,f32,f64,bool,complex64,complex128}", ".R", ".{0,1,2,3,4,5}", "[.Kulp]", "{,.3ulp,.1000ulp,.2000ulp,.100000ulp}")

func expand(name string) []string {
	name = ranges.Replace(name)
	open := strings.Index(name, "{")
	if open < 0 {
		return []string{name}
	}
	end := open + strings.Index(name[open:], "}")
	var all []string
	for _, part := range strings.Split(name[open+1:end], ",") {
		all = append(all, expand(name[:open]+strings.TrimSpace(part)+name[end+1:])...)
	}
	return all
}
