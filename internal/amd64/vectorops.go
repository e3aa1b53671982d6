package amd64

// VectorOp is an instruction on the lanes of vector registers, named as in the manuals.
type VectorOp uint8

// Instructions on vectors. Those on masks are of type [MaskOp].
const (
	VADDPS VectorOp = iota
	VADDPD
	VMULPS
	VMULPD
	VSUBPS
	VSUBPD
	VMINPS
	VMINPD
	VDIVPS
	VDIVPD
	VMAXPS
	VMAXPD
	VSQRTPS
	VSQRTPD
	VCMPPS
	VCMPPD
	VBLENDVPS
	VBLENDVPD
	VPBLENDVB
	VPBLENDW
	VBLENDMPS
	VBLENDMPD
	VPBLENDMB
	VPBLENDMW
	VBROADCASTSS
	VBROADCASTSD
	VPBROADCASTB
	VPBROADCASTW
	VCVTDQ2PD
	VCVTDQ2PS
	VCVTPD2DQ
	VCVTPD2PS
	VCVTPS2PD
	VCVTPH2PS
	VCVTPS2PH
	VCVTPS2DQ
	VCVTTPS2DQ
	VCVTTPD2DQ
	VCVTTPD2UDQ
	VCVTTPD2QQ
	VCVTTPD2UQQ
	VCVTTPS2UDQ
	VCVTUDQ2PD
	VCVTUDQ2PS
	VCVTUQQ2PD
	VCVTQQ2PD
	VCVTQQ2PS
	VCVTUQQ2PS
	VEXTRACTI128
	VEXTRACTF64X4
	VINSERTI128
	VINSERTF64X4
	VFMADD213PS
	VFMADD213PD
	VFMADD231PS
	VFMADD231PD
	VFMSUB231PD
	VFNMADD231PS
	VFNMADD231PD
	VMOVAPS
	VMOVAPD
	VMOVUPS
	VMOVUPD
	VMOVDQU
	VMOVDQU8
	VMOVDQU16
	VMOVDQU64
	VMOVD
	VMOVQ
	VMOVNTPS
	VPABSB
	VPABSW
	VPABSD
	VPABSQ
	VPADDB
	VPADDW
	VPADDD
	VPADDQ
	VPSUBB
	VPSUBW
	VPSUBD
	VPSUBQ
	VPAND
	VPANDD
	VPANDN
	VPANDQ
	VPOR
	VPORD
	VPORQ
	VPXOR
	VPXORD
	VPXORQ
	VPCMPEQB
	VPCMPEQW
	VPCMPEQD
	VPCMPEQQ
	VPCMPGTB
	VPCMPGTW
	VPCMPGTD
	VPCMPGTQ
	VPCMPB
	VPCMPUB
	VPCMPW
	VPCMPUW
	VPCMPD
	VPCMPUD
	VPCMPQ
	VPCMPUQ
	VPERM2F128
	VPERMPD
	VPERMT2PS
	VPDPWSSD
	VPMADDUBSW
	VPMADDWD
	VPSADBW
	VPSHUFB
	VPMAXSB
	VPMAXSW
	VPMAXSD
	VPMAXSQ
	VPMAXUB
	VPMAXUW
	VPMAXUD
	VPMAXUQ
	VPMINSB
	VPMINSW
	VPMINSD
	VPMINSQ
	VPMINUB
	VPMINUW
	VPMINUD
	VPMINUQ
	VPMOVSXBW
	VPMOVSXBD
	VPMOVSXBQ
	VPMOVSXWD
	VPMOVSXWQ
	VPMOVSXDQ
	VPMOVZXBW
	VPMOVZXBD
	VPMOVZXBQ
	VPMOVZXWD
	VPMOVZXWQ
	VPMOVZXDQ
	VPMOVWB
	VPMOVDB
	VPMOVQB
	VPMOVDW
	VPMOVQW
	VPMOVQD
	VPMULHW
	VPMULHUW
	VPMULLW
	VPMULLD
	VPMULLQ
	VPROLVD
	VPROLVQ
	VPSLLW
	VPSRLW
	VPSLLVW
	VPSRLVW
	VPSRAVW
	VPSRAD
	VPSRAQ
	VPSLLD
	VPSLLQ
	VPSRLD
	VPSRLQ
	VPSLLVD
	VPSLLVQ
	VPSRLVD
	VPSRLVQ
	VPSRAVD
	VPSRAVQ
	VPTERNLOGQ
	VPTESTMB
	VPTESTMD
	VPUNPCKLWD
	VPUNPCKLDQ
	VPUNPCKLQDQ
	VPUNPCKHQDQ
	VROUNDPS
	VROUNDPD
	VRNDSCALEPS
	VRNDSCALEPD
	VRSQRT14PD
	VRCP14PS
	VRCPPS
	VSCALEFPS
	VSCALEFPD
	VSHUFPS
	VUNPCKLPS
	VUNPCKHPS
)

// shape is where an instruction has its operands.
type shape uint8

const (
	rvm shape = iota // d, x, y: y may be in memory
	rm               // d, y
	mr               // d, x: d may be in memory
	vmi              // d, y and a number; more is a digit
	is4              // d, x, y, and a register in place of a number
)

// vectorForm is how a vector instruction is encoded: the map of opcodes, the prefix that it stands for (1: 66, 2: F3, 3: F2), the opcode,
// and whether lanes are told to be wide. more is the opcode to store by, or a digit.
type vectorForm struct {
	name            string
	opcodes, prefix byte
	opcode          byte
	wide            byte
	shape           shape
	more            byte
}

var vectorForms = [...]vectorForm{
	VADDPS:        {"VADDPS", 1, 0, 0x58, 0, rvm, 0},
	VADDPD:        {"VADDPD", 1, 1, 0x58, 1, rvm, 0},
	VMULPS:        {"VMULPS", 1, 0, 0x59, 0, rvm, 0},
	VMULPD:        {"VMULPD", 1, 1, 0x59, 1, rvm, 0},
	VSUBPS:        {"VSUBPS", 1, 0, 0x5C, 0, rvm, 0},
	VSUBPD:        {"VSUBPD", 1, 1, 0x5C, 1, rvm, 0},
	VMINPS:        {"VMINPS", 1, 0, 0x5D, 0, rvm, 0},
	VMINPD:        {"VMINPD", 1, 1, 0x5D, 1, rvm, 0},
	VDIVPS:        {"VDIVPS", 1, 0, 0x5E, 0, rvm, 0},
	VDIVPD:        {"VDIVPD", 1, 1, 0x5E, 1, rvm, 0},
	VMAXPS:        {"VMAXPS", 1, 0, 0x5F, 0, rvm, 0},
	VMAXPD:        {"VMAXPD", 1, 1, 0x5F, 1, rvm, 0},
	VSQRTPS:       {"VSQRTPS", 1, 0, 0x51, 0, rm, 0},
	VSQRTPD:       {"VSQRTPD", 1, 1, 0x51, 1, rm, 0},
	VCMPPS:        {"VCMPPS", 1, 0, 0xC2, 0, rvm, 0},
	VCMPPD:        {"VCMPPD", 1, 1, 0xC2, 1, rvm, 0},
	VBLENDVPS:     {"VBLENDVPS", 3, 1, 0x4A, 0, is4, 0},
	VBLENDVPD:     {"VBLENDVPD", 3, 1, 0x4B, 0, is4, 0},
	VPBLENDVB:     {"VPBLENDVB", 3, 1, 0x4C, 0, is4, 0},
	VPBLENDW:      {"VPBLENDW", 3, 1, 0x0E, 0, rvm, 0},
	VBLENDMPS:     {"VBLENDMPS", 2, 1, 0x65, 0, rvm, 0},
	VBLENDMPD:     {"VBLENDMPD", 2, 1, 0x65, 1, rvm, 0},
	VPBLENDMB:     {"VPBLENDMB", 2, 1, 0x66, 0, rvm, 0},
	VPBLENDMW:     {"VPBLENDMW", 2, 1, 0x66, 1, rvm, 0},
	VBROADCASTSS:  {"VBROADCASTSS", 2, 1, 0x18, 0, rm, 0},
	VBROADCASTSD:  {"VBROADCASTSD", 2, 1, 0x19, 1, rm, 0},
	VPBROADCASTB:  {"VPBROADCASTB", 2, 1, 0x78, 0, rm, 0},
	VPBROADCASTW:  {"VPBROADCASTW", 2, 1, 0x79, 0, rm, 0},
	VCVTDQ2PD:     {"VCVTDQ2PD", 1, 2, 0xE6, 0, rm, 0},
	VCVTDQ2PS:     {"VCVTDQ2PS", 1, 0, 0x5B, 0, rm, 0},
	VCVTPD2DQ:     {"VCVTPD2DQ", 1, 3, 0xE6, 1, rm, 0},
	VCVTPD2PS:     {"VCVTPD2PS", 1, 1, 0x5A, 1, rm, 0},
	VCVTPS2PD:     {"VCVTPS2PD", 1, 0, 0x5A, 0, rm, 0},
	VCVTPH2PS:     {"VCVTPH2PS", 2, 1, 0x13, 0, rm, 0},
	VCVTPS2PH:     {"VCVTPS2PH", 3, 1, 0x1D, 0, mr, 0},
	VCVTPS2DQ:     {"VCVTPS2DQ", 1, 1, 0x5B, 0, rm, 0},
	VCVTTPS2DQ:    {"VCVTTPS2DQ", 1, 2, 0x5B, 0, rm, 0},
	VCVTTPD2DQ:    {"VCVTTPD2DQ", 1, 1, 0xE6, 1, rm, 0},
	VCVTTPD2UDQ:   {"VCVTTPD2UDQ", 1, 0, 0x78, 1, rm, 0},
	VCVTTPD2QQ:    {"VCVTTPD2QQ", 1, 1, 0x7A, 1, rm, 0},
	VCVTTPD2UQQ:   {"VCVTTPD2UQQ", 1, 1, 0x78, 1, rm, 0},
	VCVTTPS2UDQ:   {"VCVTTPS2UDQ", 1, 0, 0x78, 0, rm, 0},
	VCVTUDQ2PD:    {"VCVTUDQ2PD", 1, 2, 0x7A, 0, rm, 0},
	VCVTUDQ2PS:    {"VCVTUDQ2PS", 1, 3, 0x7A, 0, rm, 0},
	VCVTUQQ2PD:    {"VCVTUQQ2PD", 1, 2, 0x7A, 1, rm, 0},
	VCVTQQ2PD:     {"VCVTQQ2PD", 1, 2, 0xE6, 1, rm, 0},
	VCVTQQ2PS:     {"VCVTQQ2PS", 1, 0, 0x5B, 1, rm, 0},
	VCVTUQQ2PS:    {"VCVTUQQ2PS", 1, 3, 0x7A, 1, rm, 0},
	VEXTRACTI128:  {"VEXTRACTI128", 3, 1, 0x39, 0, mr, 0},
	VEXTRACTF64X4: {"VEXTRACTF64X4", 3, 1, 0x1B, 1, mr, 0},
	VINSERTI128:   {"VINSERTI128", 3, 1, 0x38, 0, rvm, 0},
	VINSERTF64X4:  {"VINSERTF64X4", 3, 1, 0x1A, 1, rvm, 0},
	VFMADD213PS:   {"VFMADD213PS", 2, 1, 0xA8, 0, rvm, 0},
	VFMADD213PD:   {"VFMADD213PD", 2, 1, 0xA8, 1, rvm, 0},
	VFMADD231PS:   {"VFMADD231PS", 2, 1, 0xB8, 0, rvm, 0},
	VFMADD231PD:   {"VFMADD231PD", 2, 1, 0xB8, 1, rvm, 0},
	VFMSUB231PD:   {"VFMSUB231PD", 2, 1, 0xBA, 1, rvm, 0},
	VFNMADD231PS:  {"VFNMADD231PS", 2, 1, 0xBC, 0, rvm, 0},
	VFNMADD231PD:  {"VFNMADD231PD", 2, 1, 0xBC, 1, rvm, 0},
	VMOVAPS:       {"VMOVAPS", 1, 0, 0x28, 0, rm, 0},
	VMOVAPD:       {"VMOVAPD", 1, 1, 0x28, 1, rm, 0},
	VMOVUPS:       {"VMOVUPS", 1, 0, 0x10, 0, rm, 0x11},
	VMOVUPD:       {"VMOVUPD", 1, 1, 0x10, 1, rm, 0x11},
	VMOVDQU:       {"VMOVDQU", 1, 2, 0x6F, 0, rm, 0x7F},
	VMOVDQU8:      {"VMOVDQU8", 1, 3, 0x6F, 0, rm, 0x7F},
	VMOVDQU16:     {"VMOVDQU16", 1, 3, 0x6F, 1, rm, 0x7F},
	VMOVDQU64:     {"VMOVDQU64", 1, 2, 0x6F, 1, rm, 0x7F},
	VMOVD:         {"VMOVD", 1, 1, 0x6E, 0, rm, 0x7E},
	VMOVQ:         {"VMOVQ", 1, 2, 0x7E, 1, rm, 0xD6},
	VMOVNTPS:      {"VMOVNTPS", 1, 0, 0x2B, 0, mr, 0},
	VPABSB:        {"VPABSB", 2, 1, 0x1C, 0, rm, 0},
	VPABSW:        {"VPABSW", 2, 1, 0x1D, 0, rm, 0},
	VPABSD:        {"VPABSD", 2, 1, 0x1E, 0, rm, 0},
	VPABSQ:        {"VPABSQ", 2, 1, 0x1F, 1, rm, 0},
	VPADDB:        {"VPADDB", 1, 1, 0xFC, 0, rvm, 0},
	VPADDW:        {"VPADDW", 1, 1, 0xFD, 0, rvm, 0},
	VPADDD:        {"VPADDD", 1, 1, 0xFE, 0, rvm, 0},
	VPADDQ:        {"VPADDQ", 1, 1, 0xD4, 1, rvm, 0},
	VPSUBB:        {"VPSUBB", 1, 1, 0xF8, 0, rvm, 0},
	VPSUBW:        {"VPSUBW", 1, 1, 0xF9, 0, rvm, 0},
	VPSUBD:        {"VPSUBD", 1, 1, 0xFA, 0, rvm, 0},
	VPSUBQ:        {"VPSUBQ", 1, 1, 0xFB, 1, rvm, 0},
	VPAND:         {"VPAND", 1, 1, 0xDB, 0, rvm, 0},
	VPANDD:        {"VPANDD", 1, 1, 0xDB, 0, rvm, 0},
	VPANDN:        {"VPANDN", 1, 1, 0xDF, 0, rvm, 0},
	VPANDQ:        {"VPANDQ", 1, 1, 0xDB, 1, rvm, 0},
	VPOR:          {"VPOR", 1, 1, 0xEB, 0, rvm, 0},
	VPORD:         {"VPORD", 1, 1, 0xEB, 0, rvm, 0},
	VPORQ:         {"VPORQ", 1, 1, 0xEB, 1, rvm, 0},
	VPXOR:         {"VPXOR", 1, 1, 0xEF, 0, rvm, 0},
	VPXORD:        {"VPXORD", 1, 1, 0xEF, 0, rvm, 0},
	VPXORQ:        {"VPXORQ", 1, 1, 0xEF, 1, rvm, 0},
	VPCMPEQB:      {"VPCMPEQB", 1, 1, 0x74, 0, rvm, 0},
	VPCMPEQW:      {"VPCMPEQW", 1, 1, 0x75, 0, rvm, 0},
	VPCMPEQD:      {"VPCMPEQD", 1, 1, 0x76, 0, rvm, 0},
	VPCMPEQQ:      {"VPCMPEQQ", 2, 1, 0x29, 0, rvm, 0},
	VPCMPGTB:      {"VPCMPGTB", 1, 1, 0x64, 0, rvm, 0},
	VPCMPGTW:      {"VPCMPGTW", 1, 1, 0x65, 0, rvm, 0},
	VPCMPGTD:      {"VPCMPGTD", 1, 1, 0x66, 0, rvm, 0},
	VPCMPGTQ:      {"VPCMPGTQ", 2, 1, 0x37, 0, rvm, 0},
	VPCMPB:        {"VPCMPB", 3, 1, 0x3F, 0, rvm, 0},
	VPCMPUB:       {"VPCMPUB", 3, 1, 0x3E, 0, rvm, 0},
	VPCMPW:        {"VPCMPW", 3, 1, 0x3F, 1, rvm, 0},
	VPCMPUW:       {"VPCMPUW", 3, 1, 0x3E, 1, rvm, 0},
	VPCMPD:        {"VPCMPD", 3, 1, 0x1F, 0, rvm, 0},
	VPCMPUD:       {"VPCMPUD", 3, 1, 0x1E, 0, rvm, 0},
	VPCMPQ:        {"VPCMPQ", 3, 1, 0x1F, 1, rvm, 0},
	VPCMPUQ:       {"VPCMPUQ", 3, 1, 0x1E, 1, rvm, 0},
	VPERM2F128:    {"VPERM2F128", 3, 1, 0x06, 0, rvm, 0},
	VPERMPD:       {"VPERMPD", 3, 1, 0x01, 1, rm, 0},
	VPERMT2PS:     {"VPERMT2PS", 2, 1, 0x7F, 0, rvm, 0},
	VPDPWSSD:      {"VPDPWSSD", 2, 1, 0x52, 0, rvm, 0},
	VPMADDUBSW:    {"VPMADDUBSW", 2, 1, 0x04, 0, rvm, 0},
	VPMADDWD:      {"VPMADDWD", 1, 1, 0xF5, 0, rvm, 0},
	VPSADBW:       {"VPSADBW", 1, 1, 0xF6, 0, rvm, 0},
	VPSHUFB:       {"VPSHUFB", 2, 1, 0x00, 0, rvm, 0},
	VPMAXSB:       {"VPMAXSB", 2, 1, 0x3C, 0, rvm, 0},
	VPMAXSW:       {"VPMAXSW", 1, 1, 0xEE, 0, rvm, 0},
	VPMAXSD:       {"VPMAXSD", 2, 1, 0x3D, 0, rvm, 0},
	VPMAXSQ:       {"VPMAXSQ", 2, 1, 0x3D, 1, rvm, 0},
	VPMAXUB:       {"VPMAXUB", 1, 1, 0xDE, 0, rvm, 0},
	VPMAXUW:       {"VPMAXUW", 2, 1, 0x3E, 0, rvm, 0},
	VPMAXUD:       {"VPMAXUD", 2, 1, 0x3F, 0, rvm, 0},
	VPMAXUQ:       {"VPMAXUQ", 2, 1, 0x3F, 1, rvm, 0},
	VPMINSB:       {"VPMINSB", 2, 1, 0x38, 0, rvm, 0},
	VPMINSW:       {"VPMINSW", 1, 1, 0xEA, 0, rvm, 0},
	VPMINSD:       {"VPMINSD", 2, 1, 0x39, 0, rvm, 0},
	VPMINSQ:       {"VPMINSQ", 2, 1, 0x39, 1, rvm, 0},
	VPMINUB:       {"VPMINUB", 1, 1, 0xDA, 0, rvm, 0},
	VPMINUW:       {"VPMINUW", 2, 1, 0x3A, 0, rvm, 0},
	VPMINUD:       {"VPMINUD", 2, 1, 0x3B, 0, rvm, 0},
	VPMINUQ:       {"VPMINUQ", 2, 1, 0x3B, 1, rvm, 0},
	VPMOVSXBW:     {"VPMOVSXBW", 2, 1, 0x20, 0, rm, 0},
	VPMOVSXBD:     {"VPMOVSXBD", 2, 1, 0x21, 0, rm, 0},
	VPMOVSXBQ:     {"VPMOVSXBQ", 2, 1, 0x22, 0, rm, 0},
	VPMOVSXWD:     {"VPMOVSXWD", 2, 1, 0x23, 0, rm, 0},
	VPMOVSXWQ:     {"VPMOVSXWQ", 2, 1, 0x24, 0, rm, 0},
	VPMOVSXDQ:     {"VPMOVSXDQ", 2, 1, 0x25, 0, rm, 0},
	VPMOVZXBW:     {"VPMOVZXBW", 2, 1, 0x30, 0, rm, 0},
	VPMOVZXBD:     {"VPMOVZXBD", 2, 1, 0x31, 0, rm, 0},
	VPMOVZXBQ:     {"VPMOVZXBQ", 2, 1, 0x32, 0, rm, 0},
	VPMOVZXWD:     {"VPMOVZXWD", 2, 1, 0x33, 0, rm, 0},
	VPMOVZXWQ:     {"VPMOVZXWQ", 2, 1, 0x34, 0, rm, 0},
	VPMOVZXDQ:     {"VPMOVZXDQ", 2, 1, 0x35, 0, rm, 0},
	VPMOVWB:       {"VPMOVWB", 2, 2, 0x30, 0, mr, 0},
	VPMOVDB:       {"VPMOVDB", 2, 2, 0x31, 0, mr, 0},
	VPMOVQB:       {"VPMOVQB", 2, 2, 0x32, 0, mr, 0},
	VPMOVDW:       {"VPMOVDW", 2, 2, 0x33, 0, mr, 0},
	VPMOVQW:       {"VPMOVQW", 2, 2, 0x34, 0, mr, 0},
	VPMOVQD:       {"VPMOVQD", 2, 2, 0x35, 0, mr, 0},
	VPMULHW:       {"VPMULHW", 1, 1, 0xE5, 0, rvm, 0},
	VPMULHUW:      {"VPMULHUW", 1, 1, 0xE4, 0, rvm, 0},
	VPMULLW:       {"VPMULLW", 1, 1, 0xD5, 0, rvm, 0},
	VPMULLD:       {"VPMULLD", 2, 1, 0x40, 0, rvm, 0},
	VPMULLQ:       {"VPMULLQ", 2, 1, 0x40, 1, rvm, 0},
	VPROLVD:       {"VPROLVD", 2, 1, 0x15, 0, rvm, 0},
	VPROLVQ:       {"VPROLVQ", 2, 1, 0x15, 1, rvm, 0},
	VPSLLW:        {"VPSLLW", 1, 1, 0x71, 0, vmi, 6},
	VPSRLW:        {"VPSRLW", 1, 1, 0x71, 0, vmi, 2},
	VPSLLVW:       {"VPSLLVW", 2, 1, 0x12, 1, rvm, 0},
	VPSRLVW:       {"VPSRLVW", 2, 1, 0x10, 1, rvm, 0},
	VPSRAVW:       {"VPSRAVW", 2, 1, 0x11, 1, rvm, 0},
	VPSRAD:        {"VPSRAD", 1, 1, 0x72, 0, vmi, 4},
	VPSRAQ:        {"VPSRAQ", 1, 1, 0x72, 1, vmi, 4},
	VPSLLD:        {"VPSLLD", 1, 1, 0x72, 0, vmi, 6},
	VPSLLQ:        {"VPSLLQ", 1, 1, 0x73, 1, vmi, 6},
	VPSRLD:        {"VPSRLD", 1, 1, 0x72, 0, vmi, 2},
	VPSRLQ:        {"VPSRLQ", 1, 1, 0x73, 1, vmi, 2},
	VPSLLVD:       {"VPSLLVD", 2, 1, 0x47, 0, rvm, 0},
	VPSLLVQ:       {"VPSLLVQ", 2, 1, 0x47, 1, rvm, 0},
	VPSRLVD:       {"VPSRLVD", 2, 1, 0x45, 0, rvm, 0},
	VPSRLVQ:       {"VPSRLVQ", 2, 1, 0x45, 1, rvm, 0},
	VPSRAVD:       {"VPSRAVD", 2, 1, 0x46, 0, rvm, 0},
	VPSRAVQ:       {"VPSRAVQ", 2, 1, 0x46, 1, rvm, 0},
	VPTERNLOGQ:    {"VPTERNLOGQ", 3, 1, 0x25, 1, rvm, 0},
	VPTESTMB:      {"VPTESTMB", 2, 1, 0x26, 0, rvm, 0},
	VPTESTMD:      {"VPTESTMD", 2, 1, 0x27, 0, rvm, 0},
	VPUNPCKLWD:    {"VPUNPCKLWD", 1, 1, 0x61, 0, rvm, 0},
	VPUNPCKLDQ:    {"VPUNPCKLDQ", 1, 1, 0x62, 0, rvm, 0},
	VPUNPCKLQDQ:   {"VPUNPCKLQDQ", 1, 1, 0x6C, 1, rvm, 0},
	VPUNPCKHQDQ:   {"VPUNPCKHQDQ", 1, 1, 0x6D, 1, rvm, 0},
	VROUNDPS:      {"VROUNDPS", 3, 1, 0x08, 0, rm, 0},
	VROUNDPD:      {"VROUNDPD", 3, 1, 0x09, 0, rm, 0},
	VRNDSCALEPS:   {"VRNDSCALEPS", 3, 1, 0x08, 0, rm, 0},
	VRNDSCALEPD:   {"VRNDSCALEPD", 3, 1, 0x09, 1, rm, 0},
	VRSQRT14PD:    {"VRSQRT14PD", 2, 1, 0x4E, 1, rm, 0},
	VRCP14PS:      {"VRCP14PS", 2, 1, 0x4C, 0, rm, 0},
	VRCPPS:        {"VRCPPS", 1, 0, 0x53, 0, rm, 0},
	VSCALEFPS:     {"VSCALEFPS", 2, 1, 0x2C, 0, rvm, 0},
	VSCALEFPD:     {"VSCALEFPD", 2, 1, 0x2C, 1, rvm, 0},
	VSHUFPS:       {"VSHUFPS", 1, 0, 0xC6, 0, rvm, 0},
	VUNPCKLPS:     {"VUNPCKLPS", 1, 0, 0x14, 0, rvm, 0},
	VUNPCKHPS:     {"VUNPCKHPS", 1, 0, 0x15, 0, rvm, 0},
}
