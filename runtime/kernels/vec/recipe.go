package vec

import (
	"iter"
	"maps"

	"github.com/gohalo/halo/internal/amd64"
)

// Recipe is the body of an elementwise loop: the instructions that make one vector of results of one vector of each operand, on registers
// that are yet to be chosen. A program made at run time that is put together from recipes computes what the loops of their names do, bit for
// bit, as it is made of the same instructions. Those on parts of complex numbers, which are operands of their own, have no loops.
type Recipe struct {
	Name Name
	Lane int // bytes
	In   []Form
	Out  Form
	// Args are the registers in which the operands are after loading, Result that of the result before it is stored.
	Args   []Operand
	Result Operand
	// Loads[i] loads operand i, Store stores the result.
	Loads [][]Instr
	Body  []Instr
	Store []Instr
}

// Form is how elements lie in memory.
type Form struct {
	Size int // of an element
	Kind FormKind
}

// FormKind tells what loading does.
type FormKind uint8

// The forms.
const (
	Whole    FormKind = iota // elements as wide as lanes
	Truth                    // bytes 0 and 1; in registers a mask
	Extended                 // narrower integers, to which zeros are added
	Other
)

// Instr is an instruction of a recipe; the fields are those of [amd64.Vector].
type Instr struct {
	Op            amd64.VectorOp
	Bits          uint16
	D, X, Y, Mask Operand
	Number        uint8
	HasNumber     bool
	Zero          bool
}

// Operand is an operand of an instruction: nothing, a register with lanes, a mask register, a constant or memory.
type Operand uint16

// Kind is what o is.
func (o Operand) Kind() OperandKind { return OperandKind(o >> 12) }

// Index is the number of a register or of a constant.
func (o Operand) Index() int { return int(o & 0xfff) }

// OperandKind tells operands apart.
type OperandKind uint8

// The operands.
const (
	None OperandKind = iota
	Vector
	MaskRegister
	InConstant
	InMemory
)

// RecipeConstant is 16 bytes, which a constant of recipes repeats.
func RecipeConstant(i int) [2]uint64 { return recipeConstants[i] }

// FindRecipe returns the recipe of a loop, or nil, at the level in use.
func FindRecipe(name Name) *Recipe { return recipes(InUse())[name] }

// Recipes are the loops that have recipes at the level in use, in no order.
func Recipes() iter.Seq[Name] { return maps.Keys(recipes(InUse())) }

func recipesByName(all []Recipe) map[Name]*Recipe {
	m := make(map[Name]*Recipe, len(all))
	for i := range all {
		m[all[i].Name] = &all[i]
	}
	return m
}
