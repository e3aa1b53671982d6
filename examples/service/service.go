package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"sync"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// maxBatch is how many rows one execution takes. Longer requests are several executions.
const maxBatch = 64

// service answers requests with a model that JAX has exported for a batch of any size. It compiles a program for each power of two that is
// asked for, and fills rows up to the next one.
type service struct {
	model   []byte
	weights map[string]*npz.Array
	width   int64 // of a row

	mu       sync.Mutex
	programs map[int]*batchProgram
}

// batchProgram is the program of one size.
type batchProgram struct {
	once    sync.Once
	program *halo.Program
	args    []*hlo.Literal // the weights; the place of the rows is nil
	rows    int            // which argument they are
	err     error
}

// newService reads model.jax_export and weights.safetensors.
func newService(files fs.FS) (*service, error) {
	s := &service{programs: map[int]*batchProgram{}}
	var err error
	if s.model, err = fs.ReadFile(files, "model.jax_export"); err != nil {
		return nil, err
	}
	weights, err := fs.ReadFile(files, "weights.safetensors")
	if err != nil {
		return nil, err
	}
	if s.weights, err = arrays.ReadSafetensors(bytesAt(weights), int64(len(weights))); err != nil {
		return nil, err
	}
	first, ok := s.weights["layers.0.w"]
	if !ok {
		return nil, errors.New("weights.safetensors: no layers.0.w")
	}
	s.width = first.Shape[0]
	return s, nil
}

// program is the program for so many rows, compiled when it is first wanted.
func (s *service) program(ctx context.Context, rows int) (*batchProgram, error) {
	s.mu.Lock()
	b := s.programs[rows]
	if b == nil {
		b = &batchProgram{}
		s.programs[rows] = b
	}
	s.mu.Unlock()
	b.once.Do(func() { b.err = b.compile(context.WithoutCancel(ctx), s, rows) })
	return b, b.err
}

func (b *batchProgram) compile(ctx context.Context, s *service, rows int) error {
	// All shapes of the model follow from those of the arguments: the weights have theirs, the batch is chosen here.
	var shapes []hlo.Shape
	for i := 0; ; i++ {
		bias, weight := s.weights[fmt.Sprintf("layers.%d.b", i)], s.weights[fmt.Sprintf("layers.%d.w", i)]
		if bias == nil || weight == nil {
			break
		}
		shapes = append(shapes, hlo.MakeShape(hlo.F32, bias.Shape...), hlo.MakeShape(hlo.F32, weight.Shape...))
	}
	shapes = append(shapes, hlo.MakeShape(hlo.F32, int64(rows), s.width))
	m, err := halo.Loader{Shapes: shapes}.LoadBytes("model.jax_export", s.model)
	if err != nil {
		return err
	}
	if b.program, err = halo.Compile(ctx, m, halo.Options{}); err != nil {
		return err
	}
	if b.args, err = b.program.Signature().Bind(s.weights); err != nil {
		return err
	}
	b.rows = len(b.args) - 1
	for i, a := range b.args {
		if (a == nil) != (i == b.rows) {
			return fmt.Errorf("parameter %d, %s: no weights for it", i, b.program.Signature().Parameters[i].Name)
		}
	}
	return nil
}

// predict answers rows of features with rows of probabilities.
func (s *service) predict(ctx context.Context, rows [][]float32) ([][]float32, error) {
	var all [][]float32
	for len(rows) > 0 {
		n := min(len(rows), maxBatch)
		answers, err := s.batch(ctx, rows[:n])
		if err != nil {
			return nil, err
		}
		all, rows = append(all, answers...), rows[n:]
	}
	return all, nil
}

// batch runs the program once.
func (s *service) batch(ctx context.Context, rows [][]float32) ([][]float32, error) {
	size := 1 << bits.Len(uint(len(rows)-1)) // the next power of two
	b, err := s.program(ctx, size)
	if err != nil {
		return nil, err
	}
	data := make([]float32, int64(size)*s.width)
	for i, r := range rows {
		if int64(len(r)) != s.width {
			return nil, fmt.Errorf("row %d: got %d numbers, want %d", i, len(r), s.width)
		}
		copy(data[int64(i)*s.width:], r)
	}
	x, err := halo.Array(data, int64(size), s.width)
	if err != nil {
		return nil, err
	}
	args := append([]*hlo.Literal(nil), b.args...) // requests share the weights
	args[b.rows] = x
	results, err := b.program.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	values := hlo.Values[float32](results[0])
	width := len(values) / size
	answers := make([][]float32, len(rows))
	for i := range answers {
		answers[i] = values[i*width:][:width]
	}
	return answers, nil
}

// close frees the programs.
func (s *service) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.programs {
		if b.program != nil {
			b.program.Close()
		}
	}
}
