package mlir

import (
	"slices"
	"strings"
	"sync"

	"github.com/gohalo/halo/internal/spelling"
)

// formTexts are the forms of operations, without their dialect; mhlo has those of stablehlo.
var formTexts = map[string]string{
	// One operand, mostly of the type of the result.
	"$ {} :type": `stablehlo: abs cbrt ceil convert cosine count_leading_zeros erf exponential exponential_minus_one floor imag is_finite
		log log_plus_one logistic negate not popcnt real round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh copy acos acosh
		asin asinh atan atanh cosh sinh uniform_quantize uniform_dequantize reshape bitcast_convert`,
	// Several.
	"$* {} :type": `stablehlo: add and atan2 divide maximum minimum multiply or power remainder shift_left shift_right_arithmetic
		shift_right_logical subtract xor clamp dynamic_reshape dynamic_update_slice dynamic_pad real_dynamic_slice after_all create_token
		replica_id partition_id`,
	"$* {} :complex": "stablehlo: complex",
	"$* {} :select":  "stablehlo: select",
	"$* {} :tuple":   "stablehlo: tuple",
	"$* {} :return":  "stablehlo: return func: return sdy: return",
	"{} $* :each":    "stablehlo: optimization_barrier",

	"comparison_direction:comparison_direction ',' $ ',' $ [',' compare_type:comparison_type] {} :type": "stablehlo: compare",
	"{} value:attr":                                                                "stablehlo: constant chlo: constant arith: constant",
	"'dim' '=' iota_dimension:i64 {} :type":                                        "stablehlo: iota",
	"$ ',' 'dim' '=' iota_dimension:i64 {} :type":                                  "stablehlo: dynamic_iota",
	"$* ',' 'dims' '=' broadcast_dimensions:ints {} :type":                         "stablehlo: broadcast_in_dim dynamic_broadcast_in_dim",
	"$ ',' 'sizes' '=' broadcast_sizes:ints {} :type":                              "stablehlo: broadcast",
	"$ ',' 'dims' '=' permutation:ints {} :type":                                   "stablehlo: transpose",
	"$ ',' 'dims' '=' dimensions:ints {} :type":                                    "stablehlo: reverse",
	"$* ',' 'dim' '=' dimension:i64 {} :type":                                      "stablehlo: concatenate get_dimension_size set_dimension_size",
	"$ ',' $* ',' 'sizes' '=' slice_sizes:ints {} :type":                           "stablehlo: dynamic_slice",
	"$ ',' 'type' '=' fft_type:fft_type ',' 'length' '=' fft_length:ints {} :type": "stablehlo: fft",
	"$ [',' 'lower' '=' lower:bool] {} :type":                                      "stablehlo: cholesky",
	"$* ',' 'distribution' '=' rng_distribution:rng_distribution {} :type":         "stablehlo: rng",
	"$ ',' 'algorithm' '=' rng_algorithm:rng_algorithm {} :type":                   "stablehlo: rng_bit_generator",
	"$* ',' 'config' '=' einsum_config:string {} :type":                            "stablehlo: einsum unary_einsum",
	"$ '[' index:i32 ']' {} :type":                                                 "stablehlo: get_tuple_element",
	"call_target_name:name '(' $* ')' {} :type":                                    "stablehlo: custom_call",
	"callee:symbol '(' $* ')' {} :type":                                            "func: call",
	"$ ',' $ ',' 'low' '=' edge_padding_low:ints ',' 'high' '=' edge_padding_high:ints ',' 'interior' '=' interior_padding:ints {} :type": "stablehlo: pad",

	"$* {} :arrow": `chlo: acos acosh asin asin_acos_kernel _asin_acos_kernel asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf
		is_neg_inf is_pos_inf lgamma sinh square tan next_after polygamma zeta mulhi constant_like broadcast_add broadcast_and broadcast_atan2
		broadcast_compare broadcast_complex broadcast_divide broadcast_maximum broadcast_minimum broadcast_multiply broadcast_next_after
		broadcast_or broadcast_polygamma broadcast_power broadcast_remainder broadcast_select broadcast_shift_left
		broadcast_shift_right_arithmetic broadcast_shift_right_logical broadcast_subtract broadcast_xor broadcast_zeta`,
	"'(' $ ',' 'k' '=' k:i64 [',' 'largest' '=' largest:bool] [',' 'is_stable' '=' is_stable:bool] ')' {} :arrow": "chlo: top_k stablehlo: topk",

	"$ sharding:raw {} :type":                                   "sdy: sharding_constraint reshard",
	"$ 'group_id' '=' group_id:i64 {} :return":                  "sdy: sharding_group",
	"$ 'allowed_direction' '=' allowed_direction:word {} :type": "sdy: propagation_barrier",
	"$ ['sharding' '=' sharding:raw] {} :type":                  "sdy: data_flow_edge",
	"{} value:attr ": "sdy: constant",
}

// forms makes all forms, by the name of the operation, when the first one is needed. Words of the table that end in a colon are dialects.
var forms func() map[string]*form

func init() { forms = sync.OnceValue(makeForms) }

func makeForms() map[string]*form {
	codeForms := map[string]func(r *reader, op *Op){
		"builtin.module":             (*reader).moduleForm,
		"func.func":                  (*reader).functionForm,
		"stablehlo.slice":            (*reader).sliceForm,
		"stablehlo.dot":              (*reader).dotForm,
		"stablehlo.dot_general":      (*reader).dotForm,
		"stablehlo.convolution":      (*reader).convolutionForm,
		"stablehlo.reduce":           (*reader).reduceForm,
		"stablehlo.while":            (*reader).whileForm,
		"stablehlo.reduce_precision": (*reader).reducePrecisionForm,
		"stablehlo.composite":        (*reader).compositeForm,
		"chlo.scan":                  (*reader).scanForm,
		"sdy.mesh":                   (*reader).meshForm,
		"sdy.manual_computation":     (*reader).manualForm,
		"sdy.named_computation":      (*reader).namedComputationForm,
		"shape.assuming":             (*reader).assumingForm,
	}
	forms := make(map[string]*form)
	add := func(name string, f form) {
		f.name = name
		forms[name] = &f
		if rest, ok := strings.CutPrefix(name, "stablehlo."); ok {
			g := f
			g.name = "mhlo." + rest
			forms[g.name] = &g
		}
	}
	for _, texts := range []map[string]string{formTexts, shapeForms} {
		for text, ops := range texts {
			f := compile(text)
			dialect := ""
			for w := range strings.FieldsSeq(ops) {
				if d, ok := strings.CutSuffix(w, ":"); ok {
					dialect = d
					continue
				}
				add(dialect+"."+w, f)
			}
		}
	}
	for name, code := range codeForms {
		add(name, form{code: code})
	}
	// A constant has the type of its value.
	for _, name := range []string{"stablehlo.constant", "chlo.constant", "arith.constant", "sdy.constant"} {
		add(name, form{code: (*reader).constantForm})
	}
	for short, name := range map[string]string{"module": "builtin.module", "return": "func.return", "call": "func.call", "func": "func.func"} {
		forms[short] = forms[name]
	}
	return forms
}

// nearestForm is the known operation whose name is most like a name, "" when none is.
func nearestForm(name string) string {
	var names []string
	for _, f := range forms() {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return spelling.Nearest(name, names)
}
