#!/bin/sh
# How much of an all-reduce of 16 MB a product hides: two processes that keep one processor for communication and share another one for kernels, so
# that communication has a processor of its own, as on a machine with one to spare.
#
#	overlap.sh [HALO [ROUNDS]]        halo-mpi must lie beside halo
#
# It prints, for each round, the milliseconds of the all-reduce alone, of the product alone, and of both, which are medians of 20 runs; how much of the
# all-reduce is hidden, (alone + product - both) / alone; and the median of that.
set -e
halo=${1:-halo} rounds=${2:-5} dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT

reduce='  s = f32[4194304] all-reduce-start(x), replica_groups=[1,2]<=[2], channel_id=1, use_global_device_ids=true, to_apply=add'
ended='  r = f32[4194304] all-reduce-done(s)'
product='  d = f32[944,944] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}'
program() { # name, steps, result
	printf 'HloModule %s, num_partitions=2, is_scheduled=true\nadd { p = f32[] parameter(0) q = f32[] parameter(1) ROOT t = f32[] add(p, q) }\nENTRY main {\n' "$1"
	printf '  x = f32[4194304] parameter(0)\n  a = f32[944,944] parameter(1)\n%s\n%s\n}\n' "$2" "$3"
}
program alone "$reduce
$ended" '  ROOT t = (f32[4194304]) tuple(r)' >"$dir/alone.hlo"
program product "$product" '  ROOT t = (f32[944,944]) tuple(d)' >"$dir/product.hlo"
program both "$reduce
$product
$ended" '  ROOT t = (f32[4194304], f32[944,944]) tuple(r, d)' >"$dir/both.hlo"

took() { # milliseconds
	"$halo" launch -n 2 -- run --partitions 2 --fill=ones --comm-cpus=last --bench 20 --json "$dir/$1.hlo" 2>/dev/null |
		sed 's/.*"median_ms": *\([0-9.]*\).*/\1/'
}
for i in $(seq "$rounds"); do
	echo "$(took alone) $(took product) $(took both)"
done | awk '
	{ hidden[NR] = 100 * ($1 + $2 - $3) / $1
	  printf "alone %.2f, product %.2f, both %.2f ms: %.0f %% hidden\n", $1, $2, $3, hidden[NR] }
	END { for (i = 1; i <= NR; i++) { below = 0; for (j = 1; j <= NR; j++) below += hidden[j] < hidden[i] || hidden[j] == hidden[i] && j < i
	      if (below == int(NR / 2)) printf "median: %.0f %% hidden\n", hidden[i] } }'
