// The median and the least time of an all-reduce of n float32 numbers, by MPI_Allreduce, in milliseconds: what allreduce.sh compares with.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int n = argc > 1 ? atoi(argv[1]) : 4 << 20, runs = argc > 2 ? atoi(argv[2]) : 60, rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	float *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
	double *took = malloc(runs * sizeof *took);
	for (int i = 0; i < n; i++)
		in[i] = 1;
	for (int i = -2; i < runs; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		double began = MPI_Wtime(), mine;
		MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		mine = 1e3 * (MPI_Wtime() - began);
		double slowest;
		MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		if (i >= 0)
			took[i] = slowest;
	}
	qsort(took, runs, sizeof *took, ascending);
	if (rank == 0)
		printf("{\"median_ms\": %.3f, \"min_ms\": %.3f}\n", took[runs / 2], took[0]);
	MPI_Finalize();
}
