package floors

// Row is the place of a package and of those below it that have no row of their own.
type Row struct {
	Prefix string // relative to the module; with a slash at the end, only what is below
	Floor  int
	Wing   string // "": seen from both wings
	// Also lists packages of the same floor, or of the other wing, that may be imported all the same, and why is in the comment.
	Also []string
}

// table is the house: a package may import packages of lower floors of its own wing, and nothing else of the module.
var table = []Row{
	{Prefix: "internal/", Floor: 0},
	{Prefix: "hlo", Floor: 1, Wing: "hlo"},
	{Prefix: "runtime/async", Floor: 1, Wing: "runtime"},
	{Prefix: "runtime/bef", Floor: 1, Wing: "runtime"},
	{Prefix: "runtime/devices", Floor: 1, Also: []string{"hlo"}}, // both engines meet there
	{Prefix: "runtime/distributed", Floor: 2},                    // carries what devices exchange between processes
	{Prefix: "runtime/mpi", Floor: 3},
	{Prefix: "runtime/scalar", Floor: 1, Wing: "runtime"},
	{Prefix: "internal/minifloat/gen", Floor: 0, Also: []string{"internal/asmgen"}},        // a command at development time
	{Prefix: "arrays", Floor: 2},                                                           // literals in files
	{Prefix: "arrays/gen", Floor: 0, Also: []string{"internal/asmgen"}},                    // a command at development time
	{Prefix: "arrays/npz", Floor: 0, Also: []string{"internal/parsing", "internal/pages"}}, // headers are a grammar, and arrays are large
	{Prefix: "internal/moddiff", Floor: 2},
	{Prefix: "internal/commandline", Floor: 0, Also: []string{"internal/spelling"}}, // asks which name was meant
	{Prefix: "internal/archives", Floor: 0},
	{Prefix: "internal/filecheck", Floor: 0, Also: []string{"internal/spelling", "internal/parsing"}},
	{Prefix: "internal/prototext", Floor: 0, Also: []string{"internal/spelling"}}, // asks which field was meant
	{Prefix: "internal/page", Floor: 0},                                           // the frame of pages in HTML
	{Prefix: "internal/graph", Floor: 3},
	{Prefix: "internal/view", Floor: 4},      // programs in a browser
	{Prefix: "internal/play", Floor: 5},      // a page in which halo runs
	{Prefix: "internal/lsp", Floor: 4},       // reads, verifies and prints what editors hold
	{Prefix: "internal/rulecheck", Floor: 4}, // evaluates both sides of rules
	{Prefix: "internal/shadow", Floor: 3},    // evaluates two versions of a module
	{Prefix: "internal/hlotest", Floor: 4},
	{Prefix: "internal/passcases", Floor: 4}, // cases of passes as text
	{Prefix: "internal/growth/", Floor: 5},   // a command of tests, which runs passes and counts
	{Prefix: "passtest", Floor: 5},
	{Prefix: "internal/deadlock", Floor: 3},        // follows every device with the evaluator
	{Prefix: "internal/reduce", Floor: 4},          // cleans up after itself with dce
	{Prefix: "internal/difftest", Floor: 6},        // runs modules on both engines
	{Prefix: "internal/difftest/oracle", Floor: 7}, // a command at development time
	{Prefix: "internal/diverge", Floor: 6},         // finds where executions part
	{Prefix: "internal/attack", Floor: 5},          // runs mutants on both engines
	{Prefix: "internal/jobtest", Floor: 6},         // runs programs in several processes
	{Prefix: "internal/lint", Floor: 0},
	{Prefix: "internal/lint/", Floor: 1, Also: []string{"internal/lint/"}}, // the analyzers, and the command that runs them
	{Prefix: "hlo/parser", Floor: 2, Wing: "hlo"},
	{Prefix: "hlo/proto", Floor: 2, Wing: "hlo", Also: []string{"hlo/parser"}}, // origin recovery holds modules as text
	{Prefix: "hlo/stablehlo", Floor: 2, Wing: "hlo", Also: []string{"hlo/stablehlo/", "hlo/parser", "hlo/proto", "hlo/eval"}}, // shardings are read there; known values are computed
	{Prefix: "hlo/stablehlo/", Floor: 2, Wing: "hlo", Also: []string{"hlo/stablehlo", "hlo/stablehlo/", "hlo/parser"}},        // errors of text have one form; exports are converted
	{Prefix: "hlo/pass", Floor: 2, Wing: "hlo", Also: []string{"hlo/analysis"}},                                               // passes share facts
	{Prefix: "hlo/scalar", Floor: 2, Wing: "hlo"},
	{Prefix: "hlo/match", Floor: 2, Wing: "hlo"},
	{Prefix: "hlo/rules", Floor: 2, Wing: "hlo", Also: []string{"hlo/pass", "hlo/match", "hlo/scalar", "hlo/eval"}}, // rules are rewrites of a pass
	{Prefix: "hlo/eval", Floor: 2, Wing: "hlo"},
	{Prefix: "hlo/analysis", Floor: 2, Wing: "hlo"},
	{Prefix: "hlo/origin", Floor: 2, Wing: "hlo"}, // where instructions come from
	{Prefix: "printer", Floor: 2, Wing: "hlo"},
	{Prefix: "verifier", Floor: 2, Wing: "hlo", Also: []string{"hlo/analysis"}},
	{Prefix: "hlo/diff", Floor: 3, Wing: "hlo", Also: []string{"internal/moddiff"}}, // reports on differences
	{Prefix: "hlo/source", Floor: 3, Wing: "hlo"},                                   // programs in any form
	{Prefix: "runtime/workqueue", Floor: 2, Wing: "runtime"},
	{Prefix: "runtime/hostprog", Floor: 2, Wing: "runtime"},
	{Prefix: "runtime", Floor: 3, Wing: "runtime"},
	{Prefix: "runtime/eager", Floor: 5},                                   // HLO ops one by one: it lowers them, and binds their kernels
	{Prefix: "passes/", Floor: 3, Wing: "hlo", Also: []string{"passes/"}}, // families share clones and inlining
	{Prefix: "memplan", Floor: 5},                                         // what the memory of executions is for
	{Prefix: "profile", Floor: 5},                                         // what executions spend their time on
	{Prefix: "lower", Floor: 4},                                           // a bridge between the wings
	{Prefix: "runtime/kernels", Floor: 4, Also: []string{"runtime/kernels/"}},
	{Prefix: "passes", Floor: 4, Wing: "hlo"},
	{Prefix: "", Floor: 5},
	{Prefix: "halocmd", Floor: 7},
	{Prefix: "cmd/", Floor: 8},
}
