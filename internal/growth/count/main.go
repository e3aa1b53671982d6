// Command count prints how many steps passes take for an instruction, on programs of several sizes:
//
//	go build -cover -covermode=atomic -coverpkg=./hlo,./hlo/...,./passes/... -o count ./internal/growth/count
//	count [--sizes=1000,30000] [--limit=1m] [PASS…]
//
// A step is a basic block that was executed, as the counters of -cover have it: a number that depends on the program alone, not on the
// machine, its caches or its load. Without names, all passes and pipelines of the catalogue are counted. A line has the pass, the shape
// of the program, the steps for an instruction of each size, and an error if there was one: then no larger program was tried.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"runtime/coverage"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/growth"
	"github.com/gohalo/halo/passes"
)

var (
	sizes  = flag.String("sizes", "1000,20000", "instructions of the programs")
	limit  = flag.Duration("limit", time.Hour, "the longest that one pass may take on one program")
	shapes = flag.String("shapes", strings.Join(growth.Shapes, ","), "shapes of the programs")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		for _, p := range passes.All() {
			names = append(names, p.Name)
		}
		for name := range passes.Pipelines {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	for _, shape := range strings.Split(*shapes, ",") {
		var programs []hlo.Module
		for _, text := range strings.Split(*sizes, ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				log.Fatal(err)
			}
			m, err := parser.Parse(shape, growth.Program(shape, n))
			if err != nil {
				log.Fatal(err)
			}
			programs = append(programs, m)
		}
		for _, name := range names {
			fmt.Println(name + "\t" + shape + "\t" + row(name, programs))
		}
	}
}

// row is the steps of a pass or pipeline for an instruction of each program, and an error.
func row(name string, programs []hlo.Module) string {
	p, err := passes.Parse(name)
	if err != nil {
		log.Fatal(err)
	}
	cells := make([]string, len(programs)+1)
	for i, m := range programs {
		n, err := steps(p, m)
		if err != nil {
			cells[len(programs)], _, _ = strings.Cut(err.Error(), "\n")
			break
		}
		cells[i] = fmt.Sprintf("%.1f", float64(n)/float64(m.NumInstructions()))
	}
	return strings.Join(cells, "\t")
}

// steps runs p on m and counts.
func steps(p *pass.Pipeline, m hlo.Module) (uint64, error) {
	if err := coverage.ClearCounters(); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	_, err := (&pass.Runner{}).Run(ctx, p, m)
	var w bytes.Buffer
	if err := coverage.WriteCounters(&w); err != nil {
		log.Fatal(err)
	}
	total, badFile := sum(w.Bytes())
	if badFile != nil {
		log.Fatal(badFile)
	}
	return total, err
}

// sum adds up the counters of a file of counters (internal/coverage in Go's own source has its form): a header of 32 bytes, one of a
// segment, with the number of functions and the lengths of two tables, which end at a multiple of four, and for each function the
// number of its counters, two ids, and the counters.
func sum(file []byte) (total uint64, err error) {
	const header, segment = 32, 16
	if len(file) < header+segment {
		return 0, io.ErrUnexpectedEOF
	}
	b := file[header:]
	at := header + segment + int(binary.LittleEndian.Uint32(b[8:])) + int(binary.LittleEndian.Uint32(b[12:]))
	r := bytes.NewReader(file[min((at+3)/4*4, len(file)):])
	for range binary.LittleEndian.Uint64(b) {
		var head [3]uint64
		for i := range head {
			v, err := binary.ReadUvarint(r)
			if err != nil {
				return 0, err
			}
			head[i] = v
		}
		for range head[0] {
			v, err := binary.ReadUvarint(r)
			if err != nil {
				return 0, err
			}
			total += v
		}
	}
	return total, nil
}
