package main

import (
	"encoding/json"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// want is what JAX computes for three rows, numbers from -1 to 1.
var want = [][]float32{
	{0.30438417, 0.25068289, 0.12595576, 0.31897724},
	{0.25790879, 0.28539082, 0.2050644, 0.25163591},
	{0.21543957, 0.24451081, 0.32148829, 0.21856132},
}

func rows() [][]float32 {
	x := make([][]float32, 3)
	for i := range x {
		for j := range 8 {
			x[i] = append(x[i], float32(-1+2*float64(8*i+j)/23))
		}
	}
	return x
}

func start(t *testing.T) (*service, string) {
	t.Helper()
	files, err := fs.Sub(embedded, "model")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newService(files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// TestPredict asks for batches of several sizes at once, and compares with JAX's numbers.
func TestPredict(t *testing.T) {
	s, _ := start(t)
	x := rows()
	var wg sync.WaitGroup
	for _, n := range []int{1, 2, 3, 3 * 50} {
		wg.Go(func() {
			var in [][]float32
			for i := range n {
				in = append(in, x[i%3])
			}
			out, err := s.predict(t.Context(), in)
			if err != nil {
				t.Error(err)
				return
			}
			if len(out) != n {
				t.Errorf("%d rows: got %d answers", n, len(out))
			}
			for i, row := range out {
				for j, y := range row {
					if math.Abs(float64(y-want[i%3][j])) > 1e-6 {
						t.Errorf("%d rows: answer %d: got %v, want %v", n, i, row, want[i%3])
						break
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestServe(t *testing.T) {
	_, url := start(t)
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{`{"rows": [[0, 1, 0, 1, 0, 1, 0, 1]]}`, `{"rows":[[0.`, http.StatusOK},
		{`{"rows": []}`, `{"rows":null}`, http.StatusOK},
		{`{"rows": [[0, 1]]}`, "row 0: got 2 numbers, want 8", http.StatusBadRequest},
		{`{"rows": "x"}`, "cannot unmarshal", http.StatusBadRequest},
	} {
		r, err := http.Post(url+"/predict", "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if r.StatusCode != http.StatusOK {
			body := make([]byte, 1000)
			n, _ := r.Body.Read(body)
			text.Write(body[:n])
		} else {
			var raw json.RawMessage
			if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
				t.Fatal(err)
			}
			text.Write(raw)
		}
		r.Body.Close()
		if r.StatusCode != c.status || !strings.Contains(text.String(), c.want) {
			t.Errorf("%s: got %d, %s; want %d with %q", c.body, r.StatusCode, text.String(), c.status, c.want)
		}
	}
}
