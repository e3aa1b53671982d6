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
