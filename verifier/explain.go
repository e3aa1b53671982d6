package verifier

func hintOf(rule string) string { return hints[rule] }

var hints = map[string]string{
	"ASYNC-S1": "legal under --profile=xla, which lets asynchronous values go through tuples and loops",
	"ASYNC-S2": "write the -start and -done opcodes of the op itself, or use --profile=xla",
	"GEN-05":   "--mixed-precision allows operands of different floating types",
	"GEN-03":   "--supported-unbounded-dynamic-op=all allows `?`",
	"ELT-12":   "insert a broadcast",
}
