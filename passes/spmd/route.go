package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// stepKind is one way to change a tiling.
type stepKind uint8

const (
	sliceStep     stepKind = iota // each device keeps a part: dim gets axes that replicated
	gatherStep                    // dim loses its last axes
	bringStep                     // dim loses all axes; few devices have any of it, which a sum brings together
	exchangeStep                  // the last axes of dim move to the end of to: an all-to-all
	permuteStep                   // other devices hold the same tiles
	reduceStep                    // unreduced axes are reduced
	scatterStep                   // unreduced axes are reduced, and split dim
	broadcastStep                 // from one device to all
	shiftStep                     // the same array seen as manual or not: nothing happens
)

// step is one step on the way from one tiling to another.
type step struct {
	kind     stepKind
	dim, to  int
	axes     []int
	from     *Tiling
	result   *Tiling
	received int64 // bytes by each device; negative when nothing is sent
}

// route finds the steps from one tiling of an array of shape s to another. It ends at the target, whatever the tilings are.
func route(s hlo.Shape, from, to *Tiling) []step {
	r := &router{shape: s, at: from, target: to}
	if from.Maximal {
		r.add(step{kind: broadcastStep, result: replicated(to.Mesh, s.Rank()), received: s.ByteSize()})
	}
	if to.Maximal {
		r.target = replicated(to.Mesh, s.Rank())
	}
	r.reduce()
	if r.at.Mesh != r.target.Mesh {
		r.changeMesh()
	}
	r.changeManual()
	r.finish()
	return r.steps
}

// finish takes the steps that only move tiles, and gathers where none leads on.
func (r *router) finish() {
	for !r.at.sameDims(r.target) {
		if !r.slices() && !r.exchanges() && !r.permutes() && !r.balances() {
			r.gathers()
		}
	}
}

// received is what the steps so far move, with something for each of them.
func (r *router) received() (total int64) {
	for _, s := range r.steps {
		if s.received >= 0 {
			total += s.received + 64
		}
	}
	return total
}

type router struct {
	shape      hlo.Shape
	at, target *Tiling
	steps      []step
}

func (r *router) add(s step) {
	s.from = r.at
	r.steps = append(r.steps, s)
	r.at = s.result
}

// bytes is the size of what a device holds under a tiling.
func (r *router) bytes(t *Tiling) int64 { return t.bytes(r.shape) }

// whole reports whether splitting dimension k by the axes leaves no padding.
func (r *router) whole(k int, axes []int) bool { return r.shape.Dim(k)%r.at.Mesh.size(axes) == 0 }

// reduce carries out what is unreduced: where the target splits a dimension by the same axes next, scattered at once.
func (r *router) reduce() {
	pending := without(r.at.Unreduced, r.target.Unreduced)
	if len(pending) == 0 {
		return
	}
	left := without(r.at.Unreduced, pending)
	if r.at.Mesh == r.target.Mesh && slices.Equal(r.at.Manual, r.target.Manual) {
		for k, axes := range r.target.Dims {
			have := r.at.Dims[k]
			if len(axes) <= len(have) || commonPrefix(axes, have) < len(have) || !r.whole(k, axes) {
				continue
			}
			n := len(have)
			for n < len(axes) && slices.Contains(pending, axes[n]) {
				n++
			}
			run := axes[len(have):n]
			if len(run) == 0 {
				continue
			}
			pending = without(pending, run)
			next := r.at.withDim(k, slices.Clone(axes[:n]))
			next.Unreduced = union(left, pending)
			r.add(step{kind: scatterStep, dim: k, axes: run, result: next, received: r.bytes(r.at)})
		}
	}
	if len(pending) > 0 {
		next := r.at.withDims(r.at.Dims)
		next.Unreduced = left
		r.add(step{kind: reduceStep, axes: pending, result: next, received: 2 * r.bytes(r.at)})
	}
}

// changeMesh goes to the devices of another mesh: tile by tile if the target's mesh has the same tiles, else through whole arrays.
func (r *router) changeMesh() {
	m := r.target.Mesh
	if len(r.at.Manual) == 0 && len(r.target.Manual) == 0 {
		same := true
		for k := range r.at.Dims {
			same = same && r.at.tiles(k) == r.target.tiles(k)
		}
		if same {
			r.add(step{kind: permuteStep, result: r.target, received: r.bytes(r.at)})
			return
		}
	}
	for k := range r.at.Dims {
		r.gather(k, 0)
	}
	r.add(step{kind: shiftStep, result: &Tiling{Mesh: m, Dims: make([][]int, len(r.at.Dims)), Manual: r.target.Manual, Unreduced: r.target.Unreduced}, received: -1})
}

// changeManual makes axes manual along which devices hold the same, and the reverse.
func (r *router) changeManual() {
	if slices.Equal(r.at.Manual, r.target.Manual) && slices.Equal(r.at.Unreduced, r.target.Unreduced) {
		return
	}
	for k, axes := range r.at.Dims { // an axis that becomes manual must not split
		for i, a := range axes {
			if slices.Contains(r.target.Manual, a) {
				r.gather(k, i)
				break
			}
		}
	}
	next := r.at.withDims(r.at.Dims)
	next.Manual, next.Unreduced = r.target.Manual, r.target.Unreduced
	r.add(step{kind: shiftStep, result: next, received: -1})
}

// idle reports whether an axis has no role.
func idle(t *Tiling, axis int) bool { return !slices.Contains(t.used(), axis) }

// slices splits dimensions by axes that replicate, where the target wants them: next in order, or in any order of the same axes, which a
// permutation then mends.
func (r *router) slices() bool {
	for k, want := range r.target.Dims {
		have := r.at.Dims[k]
		n := commonPrefix(have, want)
		var run []int
		if n == len(have) {
			for _, a := range want[n:] {
				if !idle(r.at, a) {
					break
				}
				run = append(run, a)
			}
		} else if len(without(have, want)) == 0 {
			for _, a := range want {
				if idle(r.at, a) {
					run = append(run, a)
				}
			}
			if len(run)+len(have) != len(want) {
				run = nil // what is left would not be a permutation
			}
		}
		if len(run) == 0 {
			continue
		}
		axes := slices.Concat(have, run)
		if len(have) > 0 && !r.whole(k, axes) {
			continue
		}
		if len(have) == 0 && !slices.Equal(axes, want) && !r.whole(k, axes) {
			continue // later steps could not build on uneven tiles
		}
		r.add(step{kind: sliceStep, dim: k, axes: run, result: r.at.withDim(k, axes), received: -1})
		return true
	}
	return false
}

// exchanges moves the last axes of a dimension to another one that wants them next.
func (r *router) exchanges() bool {
	for i, have := range r.at.Dims {
		keep := commonPrefix(have, r.target.Dims[i])
		for j, want := range r.target.Dims {
			at := r.at.Dims[j]
			if i == j || len(have) == 0 || commonPrefix(at, want) < len(at) || len(want) == len(at) {
				continue
			}
			// The longest end of have that is what j wants next.
			for n := keep; n < len(have); n++ {
				run := have[n:]
				if len(at)+len(run) > len(want) || !slices.Equal(run, want[len(at):len(at)+len(run)]) {
					continue
				}
				if n > 0 && !r.whole(i, have) || len(at) > 0 && !r.whole(j, slices.Concat(at, run)) {
					continue
				}
				next := slices.Concat(at, run)
				if !slices.Equal(next, want) && !r.whole(j, next) {
					continue
				}
				t := r.at.withDim(i, slices.Clone(have[:n])).withDim(j, next)
				r.add(step{kind: exchangeStep, dim: i, to: j, axes: slices.Clone(run), result: t, received: max(r.bytes(r.at), r.bytes(t))})
				return true
			}
		}
	}
	return false
}

// permutes hands tiles over when the target has as many in each dimension.
func (r *router) permutes() bool {
	for k := range r.at.Dims {
		if r.at.tiles(k) != r.target.tiles(k) {
			return false
		}
	}
	r.add(step{kind: permuteStep, result: r.target, received: r.bytes(r.at)})
	return true
}

// balances moves axes from dimensions with too many tiles to those with too few, whichever axes they are: when the numbers agree, a permutation
// hands the tiles over.
func (r *router) balances() bool {
	if r.at.numTiles() != r.target.numTiles() {
		return false
	}
	for i, have := range r.at.Dims {
		if len(have) == 0 || r.at.tiles(i) <= r.target.tiles(i) || !r.whole(i, have) {
			continue
		}
		last := have[len(have)-1]
		for j := range r.at.Dims {
			next := slices.Concat(r.at.Dims[j], []int{last})
			if r.at.tiles(j) >= r.target.tiles(j) || r.target.tiles(j)%r.at.Mesh.size(next) != 0 || !r.whole(j, next) {
				continue
			}
			t := r.at.withDim(i, slices.Clone(have[:len(have)-1])).withDim(j, next)
			r.add(step{kind: exchangeStep, dim: i, to: j, axes: []int{last}, result: t, received: max(r.bytes(r.at), r.bytes(t))})
			return true
		}
	}
	return false
}

// gathers makes a dimension coarser: the one from which the rest of the way is shortest.
func (r *router) gathers() {
	var best *router
	try := func(k, n int) {
		next := &router{shape: r.shape, at: r.at, target: r.target, steps: slices.Clone(r.steps)}
		next.gather(k, n)
		next.finish()
		if best == nil || next.received() < best.received() {
			best = next
		}
	}
	for k, have := range r.at.Dims {
		if n := commonPrefix(have, r.target.Dims[k]); n < len(have) {
			try(k, n)
		}
	}
	if best == nil {
		// Every dimension is a beginning of what is wanted, and cannot be split further as it lies: uneven tiles.
		for k, have := range r.at.Dims {
			if len(have) > 0 && len(have) < len(r.target.Dims[k]) {
				try(k, 0)
			}
		}
	}
	*r = *best
}

// gather leaves dimension k the first n of its axes; none if its tiles do not nest.
func (r *router) gather(k, n int) {
	have := r.at.Dims[k]
	if len(have) == n {
		return
	}
	if n > 0 && !r.whole(k, have) {
		n = 0
	}
	next := r.at.withDim(k, slices.Clone(have[:n]))
	if size, tiles := r.shape.Dim(k), r.at.tiles(k); n == 0 && len(r.at.Unreduced) == 0 && 2*size < ceilDiv(size, tiles)*tiles && brings(r.shape.Type()) {
		r.add(step{kind: bringStep, dim: k, axes: have, result: next, received: 2 * r.bytes(next)})
		return
	}
	r.add(step{kind: gatherStep, dim: k, axes: slices.Clone(have[n:]), result: next, received: r.bytes(r.at) * r.at.Mesh.size(have[n:])})
}
