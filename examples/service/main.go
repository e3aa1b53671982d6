// Command service answers HTTP requests with a model that JAX has exported. The model and its weights are in the binary, which needs no Python
// and no other file.
//
//	go run . &
//	curl -d '{"rows": [[0, 1, 0, 1, 0, 1, 0, 1]]}' localhost:8080/predict
//	go run . -bench
//
// The model takes a batch of any size. measure.py exports it and times JAX on the same requests.
package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"slices"
	"time"
)

//go:embed model
var embedded embed.FS

func main() {
	addr := flag.String("addr", "localhost:8080", "where to listen")
	dir := flag.String("model", "", "a folder with model.jax_export and weights.safetensors, instead of the model in the binary")
	bench := flag.Bool("bench", false, "measure instead of serving")
	flag.Parse()
	if err := run(*addr, *dir, *bench); err != nil {
		log.Fatal(err)
	}
}

func run(addr, dir string, bench bool) error {
	files, err := fs.Sub(embedded, "model")
	if err != nil {
		return err
	}
	if dir != "" {
		files = os.DirFS(dir)
	}
	s, err := newService(files)
	if err != nil {
		return err
	}
	defer s.close()
	if bench {
		return s.measure(os.Stdout)
	}
	log.Printf("listening on %s", addr)
	return http.ListenAndServe(addr, s)
}

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request, answer struct {
		Rows [][]float32 `json:"rows"`
	}
	if r.URL.Path != "/predict" || r.Method != http.MethodPost {
		http.Error(w, "want POST /predict", http.StatusNotFound)
		return
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var err error
	if answer.Rows, err = s.predict(r.Context(), request.Rows); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client has gone if this fails
}

// measure prints the median time of a request of one row, and how many rows a second full batches make.
func (s *service) measure(out io.Writer) error {
	ctx := context.Background()
	rows := make([][]float32, maxBatch)
	for i := range rows {
		rows[i] = make([]float32, s.width)
		for j := range rows[i] {
			rows[i][j] = float32(i+j) / float32(len(rows)+len(rows[i]))
		}
	}
	for _, n := range []int{1, maxBatch} {
		if _, err := s.predict(ctx, rows[:n]); err != nil { // compiles
			return err
		}
		times := make([]time.Duration, 0, 10000)
		began := time.Now()
		for time.Since(began) < 2*time.Second && len(times) < cap(times) {
			start := time.Now()
			if _, err := s.predict(ctx, rows[:n]); err != nil {
				return err
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		p50 := times[len(times)/2]
		fmt.Fprintf(out, "batch %d: p50 %.1f us, %.0f rows/s\n", n, float64(p50.Nanoseconds())/1e3, float64(n)/p50.Seconds())
	}
	return nil
}

// bytesAt reads from memory.
func bytesAt(data []byte) io.ReaderAt { return bytes.NewReader(data) }
