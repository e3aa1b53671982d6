package hlo

type Owned[T any] struct{ x *T }

func Own[T any](x *T) Owned[T] { return Owned[T]{x} }

//halo:consume o
func (o Owned[T]) Move() Owned[T] { return o }

//halo:consume o
func (o Owned[T]) WithAttr(string) Owned[T] { return o }

//halo:consume o
func (o Owned[T]) Share() T { return *o.x }

func (o Owned[T]) Look() int { return 0 }

// Take is annotated; Forward is inferred.
//
//halo:consume o
func Take(o Owned[int]) {}

func Forward(n int, o Owned[int]) { Take(o) }

type Editor struct{}

func (e *Editor) Freeze() int { return 0 }
func (e *Editor) Set(int)     {}
func (e *Editor) Stats() int  { return 0 }

// Ticket is linear without having a method Move.
//
//halo:linear
type Ticket struct{ n int }

//halo:consume t
func Redeem(t Ticket) int { return t.n }
