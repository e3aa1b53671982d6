package workqueue

import (
	"fmt"
	"strconv"
	"strings"
)

// usage describes the texts that [New] understands.
const usage = "single, multi, multi:N or multi:N:M, with N compute and M blocking workers"

// New makes the queue that text describes: "single"; or "multi", "multi:N",
// "multi:N:M" for N compute workers (default GOMAXPROCS) and at most M
// blocking tasks at once (default 256). TFRT's names s and mstd mean the same.
func New(text string) (Queue, error) {
	name, args, hasArgs := strings.Cut(text, ":")
	switch name {
	case "single", "s":
		if hasArgs {
			return nil, fmt.Errorf("work queue %q: %s takes no argument; want %s", text, name, usage)
		}
		return NewSingle(), nil
	case "multi", "mstd":
		cfg, err := parseConfig(args, hasArgs)
		if err != nil {
			return nil, fmt.Errorf("work queue %q: %w; want %s", text, err, usage)
		}
		return NewMulti(cfg), nil
	}
	return nil, fmt.Errorf("unknown work queue %q; want %s", text, usage)
}

// maxWorkers keeps a slip of the finger from starting a million goroutines.
const maxWorkers = 1 << 16

func parseConfig(args string, hasArgs bool) (cfg Config, err error) {
	if !hasArgs {
		return cfg, nil
	}
	fields := strings.FieldsFunc(args, func(r rune) bool { return r == ':' || r == ',' })
	if len(fields) != 1+strings.Count(args, ":")+strings.Count(args, ",") || len(fields) > 2 {
		return cfg, fmt.Errorf("malformed worker counts %q", args)
	}
	for i, into := range []*int{&cfg.Workers, &cfg.Blocking}[:len(fields)] {
		n, err := strconv.Atoi(fields[i])
		if err != nil || n < 1 || n > maxWorkers {
			return cfg, fmt.Errorf("got %q workers, want a number from 1 to %d", fields[i], maxWorkers)
		}
		*into = n
	}
	return cfg, nil
}
