package distributed

import (
	"context"
	"encoding/binary"
)

// collect brings what each process has to some: first how long it is, then that.
func (j *Job) collect(ctx context.Context, name string, mine []byte, gets func(rank int) bool) ([][]byte, error) {
	w := newTask(name, 0)
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
	all := make([][]byte, j.size)
	b = newBatch(w)
	for p := range j.size {
		if p == j.rank {
			continue
		}
		if gets(p) {
			b.sendPieces(worldContext, p, tagCollect, mine)
		}
		if gets(j.rank) {
			all[p] = make([]byte, binary.LittleEndian.Uint64(lengths[p][:]))
			b.receivePieces(worldContext, p, tagCollect, all[p])
		}
	}
	if err := j.do(ctx, b); err != nil || !gets(j.rank) {
		return nil, err
	}
	all[j.rank] = mine
	return all, nil
}
