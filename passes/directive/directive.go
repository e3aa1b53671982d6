// Package directive lists what programs say to compilers beside what they compute: frontend attributes, backend configurations, custom calls
// and names that somebody reads, or that XLA reads and halo does not. A test holds the list against the sources; docs/passes.md shows it.
package directive

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Directive is one thing that a program may say.
type Directive struct {
	Name string
	Kind Kind
	// Readers are the passes that act on it, or verifier, lower and analysis; none if the directive is unread.
	Readers []string
	Doc     string // what they do, or what XLA does
}

// Kind is where a directive stands.
type Kind string

// The kinds.
const (
	Frontend Kind = "frontend attribute"
	Backend  Kind = "backend configuration"
	Call     Kind = "custom call"
	Name     Kind = "name of a computation"
)

// Frontend attributes that several passes read.
const (
	NoHoisting   = "_xla_disable_loop_instr_hoisting"
	KeepOneRound = "skip-simplify-while-loops_trip-count-one"

	SchedulingGroupID = "_scheduling_group_id"
)

// Set reports whether an instruction has a frontend attribute with a value other than false.
func Set(in hlo.Instruction, key string) bool {
	c := in.Common()
	if c == nil {
		return false
	}
	v, ok := c.FrontendAttributes.Get(key)
	return ok && v != "false" && v != "0"
}

// Group is the scheduling group of an instruction: Name is "12" and Round "-1" for an annotation "12:-1". An instruction without one, or whose
// annotation says noop, has the zero Group.
type Group struct{ Name, Round string }

// SchedulingGroup reads the annotation of an instruction. It must be a number, and may add the round that it counts from.
func SchedulingGroup(in hlo.Instruction) (Group, error) {
	c := in.Common()
	if c == nil {
		return Group{}, nil
	}
	text, ok := c.FrontendAttributes.Get(SchedulingGroupID)
	if !ok || text == "" || text == noGroup {
		return Group{}, nil
	}
	name, round, rounds := strings.Cut(text, ":")
	_, err := strconv.ParseInt(name, 10, 64)
	if err == nil && rounds {
		_, err = strconv.ParseInt(round, 10, 64)
	}
	if err != nil {
		return Group{}, &Error{in.Name(), in.Position(), fmt.Sprintf("%s=%q: want the number of a group, as in \"12\", or with a round, as in \"12:-1\"", SchedulingGroupID, text)}
	}
	return Group{name, round}, nil
}

// noGroup is the annotation of what belongs to no group.
const noGroup = "noop"

// Error says what is wrong with a directive of an instruction.
type Error struct {
	Instruction string
	Position    hlo.Position // unknown for modules that were not read from text
	Message     string
}

func (e *Error) Error() string {
	if e.Position.IsKnown() {
		return fmt.Sprintf("line %d: %%%s: %s", e.Position.Line, e.Instruction, e.Message)
	}
	return fmt.Sprintf("%%%s: %s", e.Instruction, e.Message)
}

// Table is every directive.
var Table = []Directive{
	{NoHoisting, Frontend, []string{"while-loop-invariant-code-motion", "while-loop-expensive-invariant-code-motion"}, "of a loop: nothing is moved out of it; of an instruction: it stays in its loop"},
	{KeepOneRound, Frontend, []string{"while-loop-simplifier", "while-loop-unroller"}, "a loop of one round stays a loop"},
	{"inlineable", Frontend, []string{"call-inliner", "conditional-simplifier"}, `"false" and "xla_late" keep a call; a conditional whose branch is known becomes a call of it`},
	{"composite.name", Frontend, []string{"call-inliner", "verifier"}, "which composites stay calls"},
	{"composite.attributes", Frontend, []string{"verifier"}, "must not be empty"},
	{"composite.version", Frontend, []string{"verifier"}, "must be a number"},
	{SchedulingGroupID, Frontend, []string{"legalize-scheduling-annotations"}, "instructions that are scheduled together"},
	{"async_collective_config", Frontend, []string{"async-collective-custom-call-rewriter"}, "which collective a placeholder stands for, as JSON"},
	{"is_pipelineable", Frontend, []string{"collective-pipeliner"}, `"false" keeps a collective in its round`},
	{"always_sink", Frontend, []string{"collective-pipeliner"}, "an update whose result is only read behind the loop is delayed, whatever it updates"},
	{"collective_group_key", Frontend, []string{"all-gather-combiner", "all-reduce-combiner", "reduce-scatter-combiner"}, "collectives of one key may be merged, of others not"},
	{"_xla_send_recv_pipeline", Frontend, []string{"latency-hiding-scheduler-preparation", "verifier"}, "channels of a pipeline: two that make a cycle are begun together"},
	{"_xla_send_recv_source_target_pairs", Frontend, []string{"latency-hiding-scheduler-preparation", "verifier"}, "between which devices a channel runs"},
	{"_xla_stream_annotation", Frontend, []string{"verifier"}, "calls that run on a stream of their own"},
	{"xla_skip_custom_call_alias_shape_check", Frontend, []string{"verifier"}, "shapes of aliases of a custom call are not compared"},
	{"_xla_buffer_placement", Frontend, []string{"convert-memory-placement-to-internal-annotations"}, "the memory of an annotate_device_placement"},
	{"_xla_compute_type", Frontend, nil, `host-offloader writes "host" on what reads the memory of the host; everything runs on the processor`},
	{"_halo_unrolled", Frontend, []string{"while-loop-unroller"}, "a loop that has been unrolled, which is not unrolled again"},
	{"xla_call_marked_computation", Frontend, []string{"call-outliner"}, "the computation that markers of call-marker stand for"},
	{"xla_call_marked_instruction_name", Frontend, []string{"call-outliner"}, "the name of the call"},
	{"xla.sdy.meshes", Frontend, []string{"sdy-import"}, "the meshes of the program"},
	{"xla.sdy.sharding", Frontend, []string{"sdy-import"}, "the sharding of a value, and of each element of a tuple"},
	{"xla.sdy.sharding_rule", Frontend, []string{"sdy-import"}, "how a custom call may be sharded"},
	{"xla.sdy.manual_axes", Frontend, []string{"sdy-import"}, "the axes of a manual computation, whose body sees one device's part; before that, call-inliner and computation-deduplicator leave bodies with shardings as they are"},
	{"xla.sdy.in_shardings", Frontend, []string{"sdy-import"}, "how a manual computation takes its arguments"},
	{"xla.sdy.out_shardings", Frontend, []string{"sdy-import"}, "how it gives its results"},
	{"num_batch_dims", Frontend, []string{"spmd-partitioning"}, "leading axes of a custom call that may be split"},
	{"known_trip_count", Backend, []string{"analysis", "lower", "while-loop-unroller"}, "how many rounds a loop has"},
	{"known_induction_variable", Backend, []string{"while-loop-simplifier"}, "the part of the state that counts; its number follows it"},
	{"_xla_multi_module_call", Call, []string{"hlo-module-stitcher"}, "a call of the module that the backend configuration names"},
	{"MoveToHost", Call, []string{"host-offloader", "host-offloading-prepare", "strip-memory-placement-annotations"}, "the value is in the memory of the host"},
	{"MoveToDevice", Call, []string{"host-offloader", "strip-memory-placement-annotations"}, "and back"},
	{"annotate_device_placement", Call, []string{"convert-memory-placement-to-internal-annotations", "strip-memory-placement-annotations"}, "what JAX says of memories"},
	{"xla.sdy.manual_computation_body", Name, nil, "read from the custom calls around the call; the name says nothing more"},

	{"_xla_host_transfer_rendezvous", Frontend, nil, "XLA: the name of a transfer to the host"},
	{"_xla_loop_unroll_strategy", Frontend, nil, "XLA:GPU: how to unroll a loop; see the options of while-loop-unroller"},
	{"xla_disable_while_loop_copies", Frontend, nil, "XLA: no copies for the state of this loop"},
	{"xla_cpu_small_call", Frontend, []string{"small-while-loop-hoisting"}, "XLA:CPU: a call that small-while-loop-hoisting made"},
	{"scheduler_hint", Frontend, nil, "XLA: a word to the latency-hiding scheduler"},
	{"scheduler_delay_priority", Frontend, []string{"latency-hiding-scheduler"}, "how late to schedule"},
	{"keep_original_sequence_order_in_group", Frontend, []string{"latency-hiding-scheduler"}, "the order within a scheduling group"},
	{"combiner_key", Frontend, nil, "XLA: as collective_group_key, in other passes"},
	{"MUST_FUSE", Frontend, nil, "XLA: a call that has to become a fusion"},
	{"MAXIMAL_FUSE", Frontend, nil, "XLA: the same, as much as possible"},
	{"FUSE_LIMIT", Frontend, nil, "XLA: at most so many"},
	{"_xla_cse_safe_zero_operand", Frontend, nil, "XLA: an operand that stands for 0"},
	{"_collectives_group", Frontend, nil, "XLA:GPU: collectives that one call starts together"},
	{"collective_communication_domain", Frontend, nil, "XLA: over which network a collective runs"},
	{"compilation_unit", Frontend, []string{"hlo-module-splitter"}, "a call whose callee becomes a module of this name"},
	{"mosaic_fusion_group", Frontend, nil, "XLA:TPU: calls that one kernel computes"},
	{"results_memory_spaces", Frontend, nil, "XLA:TPU: in which memories results are"},
	{"xla_disable_while_loop_dce", Frontend, nil, "XLA: no dead parts are taken out of the state of this loop"},
	{"xla_log_for_comparison", Frontend, nil, "XLA: values that tools write down"},
	{"xla.sdy.use_tuple_args", Frontend, nil, "arguments that stood in a tuple, which text says itself"},
	{"_xla_gpu_collective_stream", Frontend, nil, "XLA:GPU: on which stream a collective runs"},
	{"_xla_host_transfer_handler_name", Frontend, nil, "XLA: which handler of the host answers a transfer"},
	{"_xla_data", Frontend, nil, "of tests of XLA: carried along"},
	{"_xla_other_attribute", Frontend, nil, "of tests of XLA: carried along"},
	{"_xla_send_send_source_target_pairs", Frontend, nil, "of tests of XLA: carried along"},
	{"_xla_send_recv_validation", Frontend, nil, "XLA: in which rounds of a loop a transfer has a partner"},
	{"collective_backend_config", Backend, nil, "XLA:GPU: whether a collective is asynchronous, pipelined, and how it is computed"},
	{"fusion_backend_config", Backend, nil, "XLA:GPU: how the kernel of a fusion is tiled"},
	{"gemm_backend_config", Backend, nil, "XLA:GPU: how a library multiplies"},
	{"cudnn_conv_backend_config", Backend, nil, "XLA:GPU: how a library convolves"},
	{"dynamic_slice_config", Backend, nil, "XLA:GPU: where in every round of a loop a slice is"},
	{"operation_queue_id", Backend, nil, "XLA:GPU: on which stream an instruction runs"},
	{"outer_dimension_partitions", Backend, nil, "XLA:CPU: into how many parts cpu-parallel-task-assigner divides a call; the runtime divides work itself"},
	{"fusion_config", Backend, nil, "XLA:TPU: how a fusion is computed"},
	{"window_config", Backend, nil, "XLA:TPU: the blocks of a kernel"},
	{"scoped_memory_configs", Backend, nil, "XLA:TPU: memory beside that of results"},
	{"flag_configs", Backend, nil, "XLA:TPU: options of one instruction"},
	{"barrier_config", Backend, nil, "XLA:TPU: which barrier devices wait at"},
	{"indices_config", Backend, nil, "XLA:TPU: bits of indices that are known"},
	{"aliasing_operands", Backend, nil, "XLA:TPU: results that take the memory of operands"},
	{"sync_collective", Backend, nil, "XLA: a collective that was made asynchronous for its form alone"},
}
