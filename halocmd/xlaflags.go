package halocmd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/internal/spelling"
)

// XLA's debug options, as people have them in scripts and in the environment variable XLA_FLAGS. Those with a meaning here are aliases of
// halo's own flags, in the field tags of optCmd, or are rewritten by xlaRewrites. Others that XLA knows and that say something about
// its backends or its dumps are left out in silence; what is unknown is warned about, or refused with --strict-flags.

// xlaRewrites turns flags into halo's. The value is what stands behind the =, "true" when nothing does.
var xlaRewrites = map[string]func(value string) []string{
	"xla_cpu_enable_fast_math":   func(v string) []string { return either(v, "--fp=fast", "") },
	"xla_allow_excess_precision": func(v string) []string { return either(v, "--xla_allow_excess_precision", "--fp=strict") },
	"xla_syntax_sugar_async_ops": func(v string) []string { return either(v, "--sugar=on", "--sugar=off") },
	"xla_dump_hlo_as_text":       func(v string) []string { return either(v, "--dump-as=text", "") },
	"xla_dump_hlo_as_long_text":  func(v string) []string { return either(v, "--dump-as=long", "") },
	"xla_dump_hlo_as_dot":        func(v string) []string { return either(v, "--dump-as=dot", "") },
	"xla_dump_hlo_as_html":       func(v string) []string { return either(v, "--dump-as=html", "") },
	"xla_dump_hlo_as_proto":      func(v string) []string { return either(v, "--dump-as=proto", "") },
	"xla_dump_large_constants":   func(v string) []string { return either(v, "--large-constants", "--no-large-constants") },
	"xla_dump_disable_metadata":  func(v string) []string { return either(v, "--no-metadata", "") },
}

// debugOptions takes --debug_options_file out of a command line, and reads the flags of that file: a DebugOptions message as text, an option a
// line. Environment and command line have the last word.
func debugOptions(args []string) (own, options []string, err error) {
	for i := 0; i < len(args); i++ {
		name, file, given := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !strings.HasPrefix(args[i], "-") || name != "debug_options_file" && name != "debug-options-file" {
			own = append(own, args[i])
			continue
		}
		if !given {
			if i++; i == len(args) {
				return nil, nil, fmt.Errorf("--%s wants a file", name)
			}
			file = args[i]
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("--%s: %w", name, err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			option, value, ok := strings.Cut(line, ":")
			option, value = strings.TrimSpace(option), strings.TrimSpace(value)
			if !ok || option == "" || strings.ContainsAny(option+value, "{}<> ") {
				return nil, nil, fmt.Errorf("%s:%d: got %q, want an option and its value: xla_dump_to: \"dir\"", file, n+1, line)
			}
			if v, err := strconv.Unquote(value); err == nil {
				value = v
			}
			options = append(options, "--"+option+"="+value)
		}
	}
	return own, options, nil
}

// flagName is the name of a flag of XLA's on a command line, "" of anything else.
func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if !strings.HasPrefix(arg, "-") || !strings.HasPrefix(name, "xla_") {
		return ""
	}
	return name
}

// either is a flag for true and one for anything else; "" is none.
func either(value, yes, no string) []string {
	flag := no
	if value == "true" || value == "1" {
		flag = yes
	}
	if flag == "" {
		return nil
	}
	return []string{flag}
}

// xlaAliases are aliases of flags of opt.
var xlaAliases = []string{
	"xla_backend_optimization_level", "xla_dump_to", "xla_dump_hlo_pass_re", "xla_fuel", "xla_disable_hlo_passes", "xla_enable_hlo_passes_only",
	"xla_disable_all_hlo_passes", "xla_run_hlo_passes_starting_from", "xla_dump_hlo_pipeline_re", "xla_dump_hlo_module_re", "xla_dump_max_hlo_modules",
}

// xlaIdle are known to XLA and change nothing here: backend options by prefix, the rest by name.
var xlaIdle = []string{
	"xla_dump_hlo_as_url", "xla_dump_include_timestamp", "xla_dump_module_metadata",
	"xla_dump_compress_protos", "xla_dump_hlo_snapshots",
	"xla_dump_latency_hiding_schedule", "xla_hlo_graph_addresses", "xla_hlo_graph_sharding_color", "xla_hlo_pass_fix_detect_cycles",
	"xla_unsupported_crash_on_hlo_pass_fix_max_iterations", "xla_unsupported_crash_on_hlo_pass_noop_change",
	"xla_unsupported_crash_on_hlo_pass_silent_hlo_change", "xla_detect_unstable_reductions",
	"xla_force_host_platform_device_count", "xla_cpu_*", "xla_gpu_*", "xla_tpu_*",
}

// xlaFlags brings the flags of XLA in a command line of opt, and those of the environment, into a form that opt reads. The command line
// comes last, so that it has the last word.
func xlaFlags(args []string, environment string, stderr io.Writer) ([]string, error) {
	if len(args) == 0 || args[0] != "opt" {
		return args, nil
	}
	strict := slices.Contains(args, "--strict-flags")
	level := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--passes") || strings.HasPrefix(a, "-O") })
	out := []string{"opt"}
	flags, err := environmentFlags(environment)
	if err != nil {
		return nil, err
	}
	own, options, err := debugOptions(args[1:])
	if err != nil {
		return nil, err
	}
	flags, args = append(options, flags...), append(args[:1:1], own...)
	all := slices.Concat(flags, args[1:])
	for i, a := range all {
		fromEnvironment := i < len(flags)
		name, value, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if flagName(a) == "" {
			if !fromEnvironment {
				out = append(out, a)
			}
			continue
		}
		if !given {
			value = "true"
		}
		rewrite := xlaRewrites[name]
		switch {
		case fromEnvironment && level && name == "xla_backend_optimization_level": // the command line chooses the passes
		case slices.Contains(xlaAliases, name):
			out = append(out, "--"+strings.TrimLeft(a, "-"))
		case rewrite != nil:
			if !slices.Contains([]string{"true", "1", "false", "0"}, value) {
				return nil, fmt.Errorf("--%s=%s: want true or false", name, value)
			}
			if !slices.ContainsFunc(all[i+1:], func(later string) bool { return flagName(later) == name }) { // the last word is the only one
				out = append(out, rewrite(value)...)
			}
		case slices.Contains(xlaIdle, name) && !fromEnvironment:
			fmt.Fprintf(stderr, "note: --%s has no effect here\n", name)
		case slices.ContainsFunc(xlaIdle, func(p string) bool { return globMatch(p, name) }):
		default:
			text := fmt.Sprintf("unknown flag --%s", name)
			if near := spelling.Nearest(name, slices.Concat(xlaAliases, xlaIdle)); near != "" {
				text += fmt.Sprintf("; did you mean --%s?", near)
			}
			if strict {
				return nil, fmt.Errorf("%s", text)
			}
			fmt.Fprintf(stderr, "warning: %s\n", text)
		}
	}
	return out, nil
}

// globMatch is equality, or a common beginning when the pattern ends in a star.
func globMatch(pattern, name string) bool {
	prefix, star := strings.CutSuffix(pattern, "*")
	return pattern == name || star && strings.HasPrefix(name, prefix)
}

// environmentFlags splits XLA_FLAGS. As in XLA, a value that does not begin with a hyphen names a file that has the flags.
func environmentFlags(value string) ([]string, error) {
	value = strings.TrimSpace(value)
	if value != "" && !strings.HasPrefix(value, "-") {
		text, err := os.ReadFile(value)
		if err != nil {
			return nil, fmt.Errorf("XLA_FLAGS: %w", err)
		}
		value = string(text)
	}
	return strings.Fields(value), nil
}
