package amd64

import (
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what GNU's disassembler makes of vector instructions")

// vectorCases are instructions of every kind with registers low and high, and memory of each form.
func vectorCases() (all []Vector) {
	r := rand.New(rand.NewPCG(1, 2))
	for op := range vectorForms {
		f := &vectorForms[op]
		for _, wide := range []bool{false, true} {
			if wide && onlyNarrow.MatchString(f.name) || !wide && onlyWide.MatchString(f.name) {
				continue
			}
			for range 6 {
				v := Vector{Op: VectorOp(op), Wide: wide, Bits: []int{128, 256, 512}[r.IntN(3)]}
				top := 32
				if !wide {
					top, v.Bits = 16, min(v.Bits, 256)
				}
				switch v.Op {
				case VBROADCASTSD, VINSERTI128, VPERM2F128, VPERMPD:
					v.Bits = max(v.Bits, 256)
				case VEXTRACTF64X4, VINSERTF64X4:
					v.Bits = 512
				}
				reg := func() Reg { return Reg(r.IntN(top)) }
				v.D, v.X, v.Y = R(reg()), reg(), R(reg())
				if wide && toMask.MatchString(f.name) {
					v.D = R(Reg(1 + r.IntN(7)))
				}
				mem := MS(Reg([]int{0, 3, 8, 13}[r.IntN(4)]), Reg([]int{0, 1, 9, 12}[r.IntN(4)]), 1<<r.IntN(4), int32(r.IntN(2)*0x1234))
				how := r.IntN(4)
				if v.Op == VMOVD || v.Op == VMOVQ || v.Op == VMOVNTPS {
					how = 0 // what they do to general registers is not needed, and the last has memory alone
				}
				switch how {
				case 0:
					if f.shape != mr && f.shape != vmi && !(f.shape == rm && f.more != 0 && r.IntN(2) == 0) {
						v.Y = mem
					} else if f.shape != vmi {
						v.D = mem
					}
				case 1:
					if wide && f.shape == rvm {
						v.Mask, v.Zero = Reg(1+r.IntN(7)), r.IntN(2) == 0 && !toMask.MatchString(f.name)
					}
				case 2: // as the last vector of a row is loaded and stored
					if wide && (f.shape == rm || f.shape == mr) && f.name != "VMOVDQU" && v.Op != VMOVD && v.Op != VMOVQ {
						v.Mask = Reg(1 + r.IntN(7))
						if f.shape == mr || f.more != 0 && r.IntN(2) == 0 {
							v.D = mem
						} else {
							v.Y, v.Zero = mem, true
						}
					}
				}
				if f.shape == is4 {
					v.Mask = reg()
				}
				v.HasNumber = f.shape == vmi || takesNumber[f.name]
				if v.HasNumber {
					v.Number = 1
				}
				all = append(all, v)
			}
		}
	}
	for op := range VectorOp(len(vectorForms)) {
		if op.Broadcasts() == 0 {
			continue
		}
		for _, bits := range []int{256, 512} {
			v := Vector{Op: op, Wide: true, Bits: bits, Broadcast: true, D: R(Reg(r.IntN(32))), X: Reg(r.IntN(32)), Y: MS(RBX, RCX, 4, 0x1234)}
			if toMask.MatchString(op.String()) {
				v.D = R(Reg(1 + r.IntN(7)))
			}
			if op.Blends() {
				v.Mask = Reg(1 + r.IntN(7))
			}
			if v.HasNumber = takesNumber[op.String()]; v.HasNumber {
				v.Number = 1
			}
			all = append(all, v)
		}
	}
	return all
}

var takesNumber = map[string]bool{"VCMPPS": true, "VCMPPD": true, "VCVTPS2PH": true, "VEXTRACTI128": true, "VROUNDPS": true, "VROUNDPD": true,
	"VRNDSCALEPS": true, "VRNDSCALEPD": true, "VPCMPB": true, "VPCMPUB": true, "VPCMPW": true, "VPCMPUW": true, "VPCMPD": true, "VPCMPUD": true,
	"VPCMPQ": true, "VPCMPUQ": true, "VPTERNLOGQ": true, "VEXTRACTF64X4": true, "VINSERTF64X4": true, "VINSERTI128": true, "VPERM2F128": true,
	"VPERMPD": true, "VSHUFPS": true, "VPBLENDW": true}

// What is written in one of the two forms only, and what has a mask register for its result in the wide one.
var (
	onlyNarrow = regexp.MustCompile(`^(VPANDN?|VPOR|VPXOR|VPBLENDW|VPCMPEQ.|VPCMPGT.|P?VP?BLENDV.*|VROUND.*|VEXTRACTI128|VINSERTI128|VPERM2F128|VRCPPS)$`)
	onlyWide   = regexp.MustCompile(`^(VMOVDQU\d+|VP(AND|OR|XOR)[DQ]|VP?BLENDM.*|VPCMPU?[BWDQ]|VPTESTM.|VPTERNLOG.|VSCALEF.*|VRNDSCALE.*|VPROLV.|VPMOV[WDQ][BWD]|VCVT.*(QQ|UDQ).*|VP(ABS|MAXS|MAXU|MINS|MINU|MULL|SRAV|SRA)Q|VPS(LL|RL|RA)VW|V(EXTRACT|INSERT)F64X4|VPERMT2PS|VPDPWSSD|VRSQRT14PD|VRCP14PS)$`)
	toMask     = regexp.MustCompile(`^(VCMPP.|VPCMPU?[BWDQ]|VPTESTM.)$`)
)

// text is an instruction as the disassembler should read it, but for the sizes of registers and memory.
func (v *Vector) text() string {
	f := &vectorForms[v.Op]
	arg := func(a Arg) string {
		if !a.inMemory {
			return fmt.Sprintf("v%d", a.reg)
		}
		names := []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}
		text := fmt.Sprintf("[%s+%s*%d+%#x]", names[a.reg], names[a.index], 1<<a.scale, a.disp)
		if v.Broadcast {
			return "BCST " + text
		}
		return text
	}
	ops := []string{arg(v.D)}
	switch f.shape {
	case rvm, is4:
		ops = append(ops, fmt.Sprintf("v%d", v.X), arg(v.Y))
	default:
		ops = append(ops, arg(v.Y))
	}
	if f.shape == is4 {
		ops = append(ops, fmt.Sprintf("v%d", v.Mask))
	} else if v.Mask != 0 {
		ops[0] += fmt.Sprintf("{k%d}", v.Mask)
		if v.Zero {
			ops[0] += "{z}"
		}
	}
	if v.Wide && toMask.MatchString(f.name) {
		ops[0] = "k" + ops[0][1:]
	}
	if v.HasNumber && !comparison.MatchString(strings.ToLower(f.name)) {
		ops = append(ops, fmt.Sprintf("%#x", v.Number))
	}
	name := strings.ToLower(f.name)
	if f.name == "VMOVDQU" && v.Wide {
		name = "vmovdqu32"
	}
	name = comparison.ReplaceAllString(name, "${1}lt$2") // number 1
	return name + " " + strings.Join(ops, ",")
}

// comparison is what has a number for its kind.
var comparison = regexp.MustCompile(`^(vp?cmp)(p[sd]|u?[bwdq])$`)

// alike brings what the disassembler says into the form of text.
var alike = []struct{ from, to string }{
	{`[DQ]WORD BCST`, "BCST"}, {`^\{evex\} `, ""}, {`\*1\*`, "*"},
	{` PTR `, ""}, {`(?:XMM|YMM|ZMM|D|Q|X)?(?:WORD|BYTE)\[`, "["}, {`[xyz]mm(\d)`, "v$1"},
}

// TestVectors compares the encodings with testdata/vectors.txt, which GNU's disassembler has made of them (-update calls it), and what it has
// read with what was to be written. Instructions that the processor does not have in a form it calls (bad); these are not written.
func TestVectors(t *testing.T) {
	cases := vectorCases()
	file := filepath.Join("testdata", "vectors.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, disassembled(t, cases), 0o644))
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	read := make(map[string]string)
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		code, text, _ := strings.Cut(line, "\t")
		read[code] = text
	}
	seen := make(map[VectorOp]bool)
	broadcasts := 0 // that have not been read
	for i := range cases {
		v := &cases[i]
		text, known := read[v.encoded()]
		if !known {
			if v.Broadcast {
				broadcasts++
			}
			continue
		}
		seen[v.Op] = true
		require.Equal(t, v.text(), text, "%s: % x", v.Op, v.encoded())
	}
	require.Zero(t, broadcasts, "broadcasts that have not been read")
	for op := range vectorForms {
		require.True(t, seen[VectorOp(op)], "%s has not been read", VectorOp(op))
	}
}

func (v *Vector) encoded() string {
	c := &Code{}
	c.Vector(v)
	return hex.EncodeToString(c.Bytes())
}

// disassembled has a line for each case: the code, a tab, the text.
func disassembled(t *testing.T, cases []Vector) []byte {
	dir := t.TempDir()
	c := &Code{}
	for i := range cases {
		c.Vector(&cases[i])
		for range 4 {
			c.byte(0x90) // so that what is misread ends
		}
	}
	file := filepath.Join(dir, "code")
	require.NoError(t, os.WriteFile(file, c.Bytes(), 0o644))
	out, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--insn-width=16", file).Output()
	require.NoError(t, err)
	var b strings.Builder
	written := make(map[string]bool)
	for i := range cases {
		written[cases[i].encoded()] = true
	}
	line := regexp.MustCompile(`^\s*[0-9a-f]+:\t([0-9a-f ]+)\t(.*)$`)
	spaces := regexp.MustCompile(`\s+`)
	for _, l := range strings.Split(string(out), "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		code := strings.ReplaceAll(m[1], " ", "")
		text := strings.TrimSpace(spaces.ReplaceAllString(m[2], " "))
		if !written[code] || strings.Contains(text, "bad") {
			continue
		}
		written[code] = false
		for _, a := range alike {
			text = regexp.MustCompile(a.from).ReplaceAllString(text, a.to)
		}
		fmt.Fprintf(&b, "%s\t%s\n", code, text)
	}
	return []byte(b.String())
}
