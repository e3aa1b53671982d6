#!/bin/sh
# An all-reduce of 16 MB, which halo folds in the order of the ranks, against MPI_Allreduce of a C program with the same library, in turn, on one machine.
#
#	allreduce.sh [HALO [ROUNDS]]        halo-mpi must lie beside halo
#
# It prints, for 2 and 4 processes and each round, the median and the least of 60 runs of either in milliseconds, and their ratios; then the median of the
# ratios over the rounds.
set -e
halo=${1:-halo} rounds=${2:-5} dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
mpicc -O2 -o "$dir/c" "$(dirname "$0")/allreduce.c"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

figures() { sed 's/.*"median_ms": *\([0-9.]*\).*"min_ms": *\([0-9.]*\).*/\1 \2/'; }
for n in 2 4; do
	cat >"$dir/$n.hlo" <<-END
		HloModule all_reduce, num_partitions=$n
		add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT t = f32[] add(p, q) }
		ENTRY main {
		  x = f32[4194304] parameter(0)
		  ROOT r = f32[4194304] all-reduce(x), replica_groups=[1,$n]<=[$n], channel_id=1, use_global_device_ids=true, to_apply=add
		}
	END
	for i in $(seq "$rounds"); do
		c=$(mpirun -np $n --bind-to none --oversubscribe "$dir/c" | figures)
		h=$("$halo" launch -n $n -- run --partitions $n --fill=ones --bench 60 --json "$dir/$n.hlo" 2>/dev/null | figures)
		echo "$n $c $h"
	done
done | awk '
	function middle(a, n,   i, j, below) {
		for (i = 1; i <= n; i++) { below = 0; for (j = 1; j <= n; j++) below += a[j] < a[i] || a[j] == a[i] && j < i
		  if (below == int(n / 2)) return a[i] } }
	function summary() { if (k) printf "%d processes: %.2f of C (medians), %.2f (least)\n", last, middle(m, k), middle(l, k); k = 0 }
	$1 != last { summary(); last = $1 }
	{ k++; m[k] = $4 / $2; l[k] = $5 / $3
	  printf "%d processes: C %.2f, least %.2f; halo %.2f, least %.2f ms: %.2f, %.2f\n", $1, $2, $3, $4, $5, m[k], l[k] }
	END { summary() }'
