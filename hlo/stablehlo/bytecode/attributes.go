package bytecode

import (
	"strings"
	"sync"
)

// vhloAttributes are the operations of VHLO, without their versions, that have attributes, and the attributes in the order of the file,
// which is that of their names. A form with fewer comes first, an operation of version N has form N, or the last one.
func vhloAttributes() map[string][]string {
	return map[string][]string{
		"cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh": {"", "result_accuracy"},
		"all_gather": {"all_gather_dim channel_id replica_groups use_global_device_ids"},
		"all_reduce": {"channel_id replica_groups use_global_device_ids"},
		"all_to_all": {"channel_id concat_dimension replica_groups split_count split_dimension"},
		"batch_norm_grad batch_norm_inference batch_norm_training": {"epsilon feature_index"},
		"broadcast_in_dim":     {"broadcast_dimensions"},
		"broadcast":            {"broadcast_sizes"},
		"call":                 {"callee"},
		"cholesky":             {"lower"},
		"collective_broadcast": {"channel_id replica_groups", "channel_id has_dynamic_root replica_groups"},
		"collective_permute":   {"channel_id source_target_pairs"},
		"collective_reduce":    {"channel_id has_dynamic_root replica_groups use_global_device_ids"},
		"compare":              {"compare_type comparison_direction"},
		"composite":            {"composite_attributes decomposition name version"},
		"concatenate":          {"dimension"},
		"constant":             {"value"},
		"convolution": {"batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions " +
			"kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension " +
			"output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides"},
		"cross-replica-sum": {"replica_groups"},
		"custom_call": {"api_version backend_config call_target_name called_computations has_side_effect operand_layouts output_operand_aliases " +
			"result_layouts", "api_version backend_config call_target_name called_computations has_side_effect operand_layouts " +
			"output_operand_aliases result_layouts result_tilings"},
		"dot": {"precision_config"},
		"dot_general": {"lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions rhs_contracting_dimensions",
			"accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count lhs_contracting_dimensions " +
				"lhs_precision_type num_primitive_operations precision_config rhs_batching_dimensions rhs_component_count " +
				"rhs_contracting_dimensions rhs_precision_type"},
		"dynamic_broadcast_in_dim": {"broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
		"dynamic_conv": {"batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions " +
			"kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension " +
			"output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides",
			"batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions " +
				"kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension " +
				"output_feature_dimension output_spatial_dimensions precision_config rhs_dilation window_reversal window_strides"},
		"dynamic_gather": {"collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map",
			"collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims start_index_map " +
				"start_indices_batching_dims"},
		"dynamic_iota iota":   {"iota_dimension"},
		"dynamic_slice":       {"slice_sizes"},
		"einsum unary_einsum": {"einsum_config"},
		"fft":                 {"fft_length fft_type"},
		"func":                {"arg_attrs function_type res_attrs sym_name sym_visibility"},
		"gather": {"collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map",
			"collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes start_index_map " +
				"start_indices_batching_dims"},
		"get_dimension_size set_dimension_size": {"dimension"},
		"get_tuple_element":                     {"index"},
		"infeed":                                {"infeed_config layout"},
		"outfeed":                               {"outfeed_config"},
		"map":                                   {"dimensions"},
		"pad":                                   {"edge_padding_high edge_padding_low interior_padding"},
		"recv send":                             {"channel_id channel_type is_host_transfer", "channel_id channel_type is_host_transfer source_target_pairs"},
		"reduce reverse":                        {"dimensions"},
		"reduce_precision":                      {"exponent_bits mantissa_bits"},
		"reduce_scatter":                        {"channel_id replica_groups scatter_dimension use_global_device_ids"},
		"reduce_window":                         {"base_dilations padding window_dilations window_dimensions window_strides"},
		"rng":                                   {"rng_distribution"},
		"rng_bit_generator":                     {"rng_algorithm"},
		"scatter": {"index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices update_window_dims",
			"index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims scatter_dims_to_operand_dims " +
				"scatter_indices_batching_dims unique_indices update_window_dims"},
		"select_and_scatter": {"padding window_dimensions window_strides"},
		"slice":              {"limit_indices start_indices strides"},
		"sort":               {"dimension is_stable"},
		"torch_index_select": {"batch_dims dim"},
		"transpose":          {"permutation"},
		"triangular_solve":   {"left_side lower transpose_a unit_diagonal"},
		"abs add after_all and atan2 bitcast_convert case ceil clamp complex convert count_leading_zeros create_token divide dynamic_pad " +
			"dynamic_reshape dynamic_update_slice floor if imag is_finite maximum minimum multiply negate not optimization_barrier or " +
			"partition_id popcnt power real real_dynamic_slice remainder replica_id reshape return round_nearest_afz round_nearest_even select " +
			"shift_left shift_right_arithmetic shift_right_logical sign subtract tuple uniform_dequantize uniform_quantize while xor " +
			"async_start async_done": {""},
	}
}

// vhloOps are the lists of attributes by the name of the operation, one for each form.
var vhloOps = sync.OnceValue(func() map[string][][]string {
	m := make(map[string][][]string)
	for names, forms := range vhloAttributes() {
		var lists [][]string
		for _, f := range forms {
			lists = append(lists, strings.Fields(f))
		}
		for name := range strings.FieldsSeq(names) {
			m[name] = lists
		}
	}
	return m
})

// splitVersion takes the version off the name of an operation of VHLO: add_v1.
func splitVersion(name string) (base string, version int, ok bool) {
	i := strings.LastIndex(name, "_v")
	if i < 0 || i+3 != len(name) || name[i+2] < '1' || name[i+2] > '9' {
		return name, 0, false
	}
	return name[:i], int(name[i+2] - '0'), true
}

// attributesOf are the attributes of an operation of VHLO, version and all; false when it is unknown.
func attributesOf(name string) ([]string, bool) {
	base, version, ok := splitVersion(name)
	forms := vhloOps()[base]
	if !ok || forms == nil || version > 3 {
		return nil, false
	}
	return forms[min(version, len(forms))-1], true
}
