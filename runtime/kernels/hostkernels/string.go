package hostkernels

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

func registerStrings(reg *runtime.Registry) {
	text := runtime.FromAttribute(identity[string])
	reg.Kernel("tfrt_test.get_string", text)
	reg.Sync("tfrt_test.get_string_sync", text)
	reg.Kernel("tfrt_test.print_string", printing(func(s string) string { return "string = " + s }))
	reg.Kernel("tfrt_test.append_string", runtime.Pure2(func(a, b string) string { return a + b }))
	reg.Kernel("tfrt_test.string_equal", runtime.Pure2(func(a, b string) bool { return a == b }))
	reg.Kernel("tfrt_test.format_string", runtime.Try2(formatInt))
	reg.Kernel("tfrt_test.read_string_from_file", runtime.Try1(readText))
	reg.Kernel("tfrt_test.logging", runtime.Params4(
		func(ctx runtime.ExecContext, s runtime.Argument[string], _ runtime.Argument[async.Chain], out runtime.Result[async.Chain]) error {
			c := console(ctx)
			for _, form := range []string{"from TFRT_LOG(%s): %s", "from TFRT_LOG_IF(%s, true): %s"} {
				c.Logf(Info, form, "INFO", s.Get())
				c.Logf(Warning, form, "WARNING", s.Get())
				c.Logf(Failure, form, "ERROR", s.Get())
			}
			out.Emplace(async.Chain{})
			return nil
		}))
}

// formatInt is C's sprintf with one integer.
func formatInt(format string, x int32) (string, error) {
	var out strings.Builder
	used := false
	for left := format; ; {
		text, rest, found := strings.Cut(left, "%")
		out.WriteString(text)
		if !found {
			return out.String(), nil
		}
		if strings.HasPrefix(rest, "%") {
			out.WriteByte('%')
			left = rest[1:]
			continue
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("-+ #0123456789.", r) })
		if n < 0 || n > maxSpec || used {
			return "", fmt.Errorf("format %q is not one of an integer", format)
		}
		s, err := convertInt(rest[:n], rest[n], x)
		if err != nil {
			return "", err
		}
		used = true
		out.WriteString(s)
		left = rest[n+1:]
	}
}

// maxSpec bounds flags, width and precision: enough for any sensible one, too little for one that fills memory.
const maxSpec = 6

// convertInt formats by one of C's conversions; Go's are the same but for their letters.
func convertInt(spec string, conversion byte, x int32) (string, error) {
	switch conversion {
	case 'd', 'i':
		return fmt.Sprintf("%"+spec+"d", x), nil
	case 'u':
		return fmt.Sprintf("%"+spec+"d", uint32(x)), nil
	case 'x', 'X', 'o':
		return fmt.Sprintf("%"+spec+string(conversion), uint32(x)), nil
	case 'c':
		return fmt.Sprintf("%"+spec+"s", []byte{byte(x)}), nil
	}
	return "", fmt.Errorf("conversion %%%s%c is not one of an integer", spec, conversion)
}

// maxText bounds what is read from a file that may have no end.
const maxText = 1 << 30

func readText(path string) (string, error) {
	file, err := os.Open(path)
	if err == nil {
		defer file.Close()
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(file, maxText+1)); err == nil && len(text) <= maxText {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("failed to read from file %s", path)
}
