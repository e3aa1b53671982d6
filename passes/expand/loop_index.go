package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// windowed is a gather or scatter that is being written as a loop over its index vectors.
type windowed struct {
	array    hlo.Shape
	window   []int64 // its size along each axis of the array
	batch    []int64 // the dimensions of the indices without that of the vectors
	vector   int64   // which dimension of the indices that is; their rank if they are scalars
	mapped   []int64 // the axis of the array of each index
	batching []int64 // axes of the array that are batched, and with which of the indices' dimensions
	with     []int64
	n        int64 // index vectors
}

func (w *windowed) fill(indices hlo.Shape) {
	w.n = 1
	for d, size := range indices.Dimensions() {
		if int64(d) != w.vector {
			w.batch = append(w.batch, size)
			w.n *= size
		}
	}
}

// list is the indices as a list: of vectors, or of scalars.
func (w *windowed) list(at emit.At, indices hlo.InstrID) hlo.InstrID {
	s := at.Shape(indices)
	t := s.Type()
	need := w.n
	for _, d := range w.array.Dimensions() {
		need = max(need, d)
	}
	if !holds(t, need) {
		t = hlo.S32
		if !holds(t, need) {
			t = hlo.S64
		}
		indices = at.Convert(indices, t)
	}
	if int(w.vector) == s.Rank() {
		return at.Reshape(indices, w.n)
	}
	width := s.Dim(int(w.vector))
	return at.Reshape(at.Transpose(indices, append(others(s.Rank(), []int64{w.vector}), w.vector)...), w.n, width)
}

// scalars are the elements of a vector.
func scalars(at emit.At, v hlo.InstrID) []hlo.InstrID {
	list := make([]hlo.InstrID, at.Shape(v).Dim(0))
	for i := range list {
		list[i] = at.Reshape(at.Slice(v, []int64{int64(i)}, []int64{int64(i) + 1}))
	}
	return list
}

// step is a round of a loop over windows: the number i of the window, and what has been made of it.
type step struct {
	*windowed
	at     emit.At
	i      hlo.InstrID
	asList hlo.InstrID         // i as a vector
	count  hlo.InstrID         // i in the type of the indices
	sizes  map[int]hlo.InstrID // constants: those of the batch
	above  map[int]hlo.InstrID // the number of the window without the dimensions of the batch from one on
}

// row is where row i of an array of a rank begins: i, and zeros.
func (s *step) row(rank int) []hlo.InstrID {
	if s.asList == hlo.NoInstr {
		s.asList = s.at.Fill(s.i, 1)
	}
	v := s.asList
	if rank > 1 {
		v = s.at.Pad(v, s.at.Int(s.at.Shape(s.i).Type(), 0), 0, 0, int64(rank)-1)
	}
	return scalars(s.at, v)
}

// rowOf is row i of an array, with a first dimension of size 1.
func (s *step) rowOf(x hlo.InstrID) hlo.InstrID {
	sizes := slices.Clone(s.at.Shape(x).Dimensions())
	sizes[0] = 1
	return s.at.DynamicSlice(x, s.row(len(sizes)), sizes...)
}

// start is where in the array the window begins, as a vector: indices, places in the batch, and zeros.
func (s *step) start(list hlo.InstrID) hlo.InstrID {
	at, t, vector := s.at, s.at.Shape(list).Type(), hlo.NoInstr
	var parts []hlo.InstrID
	for axis := range int64(s.array.Rank()) {
		if k := slices.Index(s.batching, axis); k >= 0 {
			if s.count == hlo.NoInstr {
				s.count = at.Convert(s.i, t)
			}
			parts = append(parts, at.Fill(s.inBatch(s.with[k]), 1))
			continue
		}
		k := slices.Index(s.mapped, axis)
		if k < 0 {
			parts = append(parts, at.Ints(t, 0))
			continue
		}
		if vector == hlo.NoInstr {
			vector = s.rowOf(list)
			vector = at.Reshape(vector, at.Shape(vector).NumElements())
		}
		parts = append(parts, at.Slice(vector, []int64{int64(k)}, []int64{int64(k) + 1}))
	}
	return at.Concatenate(0, parts...)
}

// inBatch is the place of the window along a dimension of the indices.
func (s *step) inBatch(dim int64) hlo.InstrID {
	d := int(dim)
	if dim > s.vector {
		d--
	}
	v := s.without(d + 1)
	if d > 0 {
		v = s.at.Binary(hlo.OpRemainder, v, s.size(d))
	}
	return v
}

// without is the number of the window divided by the dimensions of the batch from d on.
func (s *step) without(d int) hlo.InstrID {
	if d == len(s.batch) {
		return s.count
	}
	if v, ok := s.above[d]; ok {
		return v
	}
	v := s.at.Binary(hlo.OpDivide, s.without(d+1), s.size(d))
	s.above[d] = v
	return v
}

func (s *step) size(d int) hlo.InstrID {
	v, ok := s.sizes[d]
	if !ok {
		v = s.at.Int(s.at.Shape(s.count).Type(), s.batch[d])
		s.sizes[d] = v
	}
	return v
}

// loop runs a step for each window over a state, and returns the state after it. The step gets the state and returns the next one.
func (w *windowed) loop(at emit.At, name string, state []hlo.InstrID, do func(s *step, state []hlo.InstrID) []hlo.InstrID) []hlo.InstrID {
	return at.For(name, w.n, state, func(at emit.At, i hlo.InstrID, now []hlo.InstrID) []hlo.InstrID {
		return do(&step{windowed: w, at: at, i: i, asList: hlo.NoInstr, count: hlo.NoInstr, sizes: map[int]hlo.InstrID{}, above: map[int]hlo.InstrID{}}, now)
	})
}
