package scalar

import "github.com/gohalo/halo/internal/amd64"

// branch translates what may go elsewhere. Branches back count down the rounds, and leave the code behind the last.
func (t *translator) branch(in *instr, i int) []exit {
	to := int(in.m) / instrSize
	cond, always := t.condition(in)
	if to > i {
		if always {
			t.Jump(t.at[to])
		} else {
			t.JumpIf(cond, t.at[to])
		}
		return nil
	}
	on := t.NewLabel()
	if !always {
		t.JumpIf(cond^1, on)
	}
	t.DoImm(amd64.SUB, false, amd64.R(regRounds), 1)
	t.JumpIf(amd64.NE, t.at[to])
	out := t.NewLabel()
	t.Jump(out)
	t.Mark(on)
	return []exit{{out, to}}
}

// condition sets the flags for a branch.
func (t *translator) condition(in *instr) (cond amd64.Cond, always bool) {
	switch o := in.op; o {
	case opJump:
		return 0, true
	case opIf, opIfNot:
		t.CmpByte(t.word(in.a), 0)
		return amd64.NE ^ amd64.Cond(o-opIf), false
	case opAddIfLtS32, opAddIfLtS64:
		wide := o == opAddIfLtS64
		if in.c == in.d { // the limit is what it was before
			t.Do(amd64.MOV, true, rdx, t.word(in.c))
			t.arithmetic(amd64.ADD, in.d, in.a, in.b)
			t.Do(amd64.CMP, wide, t.wordIn(in.d, rax), amd64.R(rdx))
			return amd64.L, false
		}
		t.arithmetic(amd64.ADD, in.d, in.a, in.b)
		t.compare(comparison{amd64.L, wide}, in.d, in.c)
		return amd64.L, false
	default:
		c := comparisons[o-opIfEq32]
		t.compare(c, in.a, in.b)
		return c.cond, false
	}
}
