package hlo

type Opcode uint8

const (
	A Opcode = iota
	B
	C
	D
	E
	F
	G
)

func Own(op Opcode) bool {
	switch op {
	case A, B, C, D, E, F, G:
		return true
	}
	return false
}
