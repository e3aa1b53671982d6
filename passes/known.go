package passes

// known are the passes of XLA's hlo-opt that halo does not have, each with the one of the catalogue that does most of its work, if any. A name that the
// catalogue has is never looked up here.
var known = map[string]string{
	"algebraic-simplifier":                                "algsimp",
	"all-gather-dynamic-slice-permuted-offset-simplifier": "all-gather-to-collective-permute-simplifier",
	"all-to-all-decomposer":                               "",
	"async-collective-custom-call-rewriter":               "async-collective-creator",
	"batched-gather-scatter-normalizer":                   "gather-expander",
	"bitcast-dtypes-expander":                             "",
	"call-splitter":                                       "call-parameter-cleanup",
	"cholesky-expander":                                   "",
	"collective-permute-decomposer":                       "async-collective-creator",
	"constant-deferring":                                  "fusion-constant-sinking",
	"conv-canonicalization":                               "algsimp",
	"conv-operand-swapper":                                "algsimp",
	"convert-async-collectives-to-sync":                   "sync-useless-pairs",
	"convert-mover":                                       "bfloat16-fold",
	"convert-operand-folding":                             "bfloat16-fold",
	"convolution-canonicalization":                        "algsimp",
	"convolution-pred-expander":                           "operand-upcaster",
	"convolution-type-canonicalizer":                      "operand-upcaster",
	"copy-insertion":                                      "",
	"cpu-layout-assignment":                               "",
	"cpu-multi-output-fusion":                             "fusion",
	"dot-expand-dims":                                     "dot-dimension-normalizer",
	"dynamic-dimension-simplifier":                        "algsimp",
	"dynamic-index-splitter":                              "",
	"dynamic-padder":                                      "outline-dynamic",
	"eigh-expander":                                       "",
	"gather-simplifier":                                   "gather-expander",
	"hlo-module-splitter":                                 "",
	"hlo-module-stitcher":                                 "",
	"host-memory-transfer-asyncifier":                     "async-wrapper",
	"instruction-hoister":                                 "latency-hiding-scheduler",
	"layout-assignment":                                   "",
	"literal-canonicalizer":                               "cse",
	"logistic-expander":                                   "algsimp",
	"loop-schedule-linearizer":                            "collectives-schedule-linearizer",
	"memory-space-propagation":                            "",
	"optimize-input-output-buffer-alias":                  "",
	"qr-expander":                                         "",
	"ragged-dot-rewriter":                                 "",
	"reduce-scatter-decomposer":                           "reduce-scatter-reassociate",
	"rematerialization":                                   "",
	"reshape-decomposer":                                  "reshape-mover",
	"result-caster":                                       "operand-upcaster",
	"rng-bit-generator-expander":                          "",
	"rng-expander":                                        "",
	"scan-loop-accumulator-input-unification":             "while-loop-simplifier",
	"scheduler-memory-fencing":                            "latency-hiding-scheduler",
	"shape-canonicalizer":                                 "",
	"sharding-propagation":                                "spmd-partitioning",
	"shardy-xla":                                          "spmd-partitioning",
	"simplify-fp-conversions":                             "bfloat16-fold",
	"slice-hoister":                                       "slice-sinker",
	"space-to-batch-converter":                            "",
	"topk-decomposer":                                     "sort-simplifier",
	"topk-rewriter":                                       "sort-simplifier",
	"topk-splitter":                                       "sort-simplifier",
	"tree-reduction-rewriter":                             "algsimp",
	"triangular-solve-expander":                           "",
	"while-loop-pipeline-unroller":                        "while-loop-unroller",
}

// Known reports whether XLA's hlo-opt has the pass of a name, and the pass of the catalogue that is nearest to it, "" if none is.
func Known(name string) (nearest string, ok bool) {
	nearest, ok = known[name]
	return nearest, ok
}

func (lookup) Known(name string) (nearest string, ok bool) { return Known(name) }
