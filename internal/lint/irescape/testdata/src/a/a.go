package a

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
