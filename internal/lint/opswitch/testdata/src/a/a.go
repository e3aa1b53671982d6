package a

import "hlo"

func few(op hlo.Opcode) bool {
	switch op {
	case hlo.A, hlo.B, hlo.C:
		return true
	case hlo.D, hlo.E, hlo.F:
		return false
	}
	return false
}

func many(op hlo.Opcode) bool {
	switch op { // want `this switch names 7 opcodes`
	case hlo.A, hlo.B, hlo.C, hlo.D:
		return true
	case hlo.E, hlo.F, hlo.G:
		return false
	}
	return false
}

func allowed(op hlo.Opcode) bool {
	//halo:allow opswitch the subject of this function
	switch op {
	case hlo.A, hlo.B, hlo.C, hlo.D, hlo.E, hlo.F, hlo.G:
		return true
	}
	return false
}

func numbers(n int) bool {
	switch n {
	case 1, 2, 3, 4, 5, 6, 7, 8:
		return true
	}
	return false
}

var shortSet = map[hlo.Opcode]bool{hlo.A: true, hlo.B: true}

var longSet = map[hlo.Opcode]bool{hlo.A: true, hlo.B: true, hlo.C: true, hlo.D: true, hlo.E: true, hlo.F: true} // want `this literal lists 6 opcodes`

var longPairs = map[hlo.Opcode]hlo.Opcode{hlo.A: hlo.B, hlo.C: hlo.D, hlo.E: hlo.F} // want `this literal lists 6 opcodes`

var table = [...]string{hlo.A: "a", hlo.B: "b", hlo.C: "c", hlo.D: "d", hlo.E: "e", hlo.F: "f"} // want `this literal lists 6 opcodes`

var behaviour = map[hlo.Opcode]func(int) int{hlo.A: nil, hlo.B: nil, hlo.C: nil, hlo.D: nil, hlo.E: nil, hlo.F: nil}

type rule struct{ run func() }

var rules = map[hlo.Opcode]*rule{hlo.A: nil, hlo.B: nil, hlo.C: nil, hlo.D: nil, hlo.E: nil, hlo.F: nil}

func contains(op hlo.Opcode) bool {
	for _, o := range []hlo.Opcode{hlo.A, hlo.B, hlo.C, hlo.D, hlo.E, hlo.F} { // want `this literal lists 6 opcodes`
		if o == op {
			return true
		}
	}
	return false
}

func set(ops ...hlo.Opcode) {}

func init() {
	set(hlo.A, hlo.B)
	set(hlo.A, hlo.B, hlo.C, hlo.D, hlo.E, hlo.F) // want `this call lists 6 opcodes`
}

func compared(op hlo.Opcode) bool {
	if op == hlo.A || op == hlo.B {
		return true
	}
	return op == hlo.A || op == hlo.B || op == hlo.C || op == hlo.D || (op == hlo.E || op == hlo.F) // want `this condition compares with 6 opcodes`
}
