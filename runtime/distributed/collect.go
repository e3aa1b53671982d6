package distributed

import (
	"context"
	"encoding/binary"
)

// collectInRounds is collect for all, of little: lengths first, then bytes.
func (j *Job) collectInRounds(ctx context.Context, w *task, mine []byte) ([][]byte, error) {
	everybody := make([]int, j.size)
	for p := range everybody {
		everybody[p] = p
	}
	r := &relay{everybody, j.rank, exchange{worldContext, tagCollect}, w, func(b *batch) error { return j.do(ctx, b) }}
	lengths, err := r.gather(binary.LittleEndian.AppendUint64(nil, uint64(len(mine))), func(int) int { return 8 })
	if err != nil {
		return nil, err
	}
	size := func(i int) int { return int(binary.LittleEndian.Uint64(lengths[i])) }
	most := 0
	for i := range j.size {
		most = max(most, size(i))
	}
	if most == 0 {
		return make([][]byte, j.size), nil
	}
	if most <= relayLimit {
		return r.gather(mine, size)
	}
	return j.collectBytes(ctx, w, mine, size, func(int) bool { return true })
}

// collect brings what each process has to all, or to rank 0: first how long it is, then that.
func (j *Job) collect(ctx context.Context, name string, mine []byte, all bool) ([][]byte, error) {
	w := newTask(name, 0)
	if all && j.size >= relayFrom {
		return j.collectInRounds(ctx, w, mine)
	}
	gets := func(rank int) bool { return all || rank == 0 }
	lengths := make([][8]byte, j.size)
	binary.LittleEndian.PutUint64(lengths[j.rank][:], uint64(len(mine)))
	b := newBatch(w)
	for p := range j.size {
		if p == j.rank {
			continue
		}
		if gets(p) {
			b.send(worldContext, p, tagCollect, lengths[j.rank][:])
		}
		if gets(j.rank) {
			b.receive(worldContext, p, tagCollect, lengths[p][:])
		}
	}
	if err := j.do(ctx, b); err != nil {
		return nil, err
	}
	return j.collectBytes(ctx, w, mine, func(p int) int { return int(binary.LittleEndian.Uint64(lengths[p][:])) }, gets)
}

// collectBytes brings what each process has to those that get it; size is how long that of a process is.
func (j *Job) collectBytes(ctx context.Context, w *task, mine []byte, size func(rank int) int, gets func(rank int) bool) ([][]byte, error) {
	all := make([][]byte, j.size)
	b := newBatch(w)
	for p := range j.size {
		if p == j.rank {
			continue
		}
		if gets(p) {
			b.sendPieces(worldContext, p, tagCollect, mine)
		}
		if gets(j.rank) {
			all[p] = make([]byte, size(p))
			b.receivePieces(worldContext, p, tagCollect, all[p])
		}
	}
	if err := j.do(ctx, b); err != nil || !gets(j.rank) {
		return nil, err
	}
	all[j.rank] = mine
	return all, nil
}
