package a

import "iter"

type node struct{ epoch uint64 }

type plain struct{ n int }

type Value struct{ n *node }

type Open struct {
	N *node // want `N is a way to an IR node`
}

func (v Value) Node() *node { return v.n } // want `Node hands out a pointer to an IR node`

func (v Value) Plain() *plain { return nil }

func (v Value) own() *node { return v.n }

func Nodes() []*node { return nil } // want `Nodes hands out`

func Each(f func(*node)) {} // want `Each shows its callback`

func Take(v Value) Value { return v }

func (n *node) Epoch() *node { return n }

var Root *node // want `Root is a way`

type stamped struct{ stamp uint64 }

func Stamped() *stamped { return nil } // want `Stamped hands out`

func All() iter.Seq[*node] { return nil } // want `All hands out`

func Pairs() iter.Seq2[int, *node] { return nil } // want `Pairs hands out`

func Values() iter.Seq2[int, Value] { return nil }

type Several []*node

func List() Several { return nil } // want `List hands out`

func Table() map[string][]*node { return nil } // want `Table hands out`

func Later() func() *node { return nil } // want `Later hands out`

func Walk(f func(func(*node))) {} // want `Walk shows its callback`

func Plains() []*plain { return nil }

type Reader interface {
	Read() *node // want `Read hands out`
}

type loop []loop

func Loop() loop { return nil }

func inside() []*node { return nil }

//halo:allow irescape for tests of this package
func Allowed() *node { return nil }
