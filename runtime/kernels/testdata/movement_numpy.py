"""What NumPy does with the programs of BenchmarkMovement, as a part of what copying memory reaches in the same moment.

Run it beside the benchmark, on the same machine: python3 movement_numpy.py ../movement_bench_test.go
With the benchmark's output as a second argument it prints the table of docs/performance-ops.md, both sides by side.
"""
import math
import re
import sys
import time

import numpy as np

TYPES = {'f32': 'f4', 'f64': 'f8', 'bf16': 'u2', 'u8': 'u1', 's32': 'i4', 'u32': 'u4', 'u64': 'u8', 'c64': 'c8', 'pred': '?'}


def arrays(text):
    """The shapes of an instruction, result first, as zeros of those shapes."""
    head = text.split(', to_apply')[0]
    found = re.findall(r'\b(' + '|'.join(TYPES) + r')\[([\d,]*)\]', head)
    return [np.zeros([int(d) for d in dims.split(',') if d], TYPES[t]) for t, dims in found]


def operands(text):
    results = 1 if not text.startswith('(') else text[:text.index(')')].count('[')
    all_arrays = arrays(text)
    r = np.random.default_rng(1)
    given = []
    for k, a in enumerate(all_arrays[results:]):
        if a.dtype.kind in 'fc':
            a = (r.random(a.shape) + 0.5).astype(a.dtype)
        elif a.dtype == np.int32 and k > 0:
            a = r.integers(0, max(1, given[0].shape[0]), a.shape, dtype=np.int32)
        given.append(a)
    return given, sum(a.nbytes for a in all_arrays)


def seconds(f):
    best, end = math.inf, time.perf_counter() + 0.2
    while time.perf_counter() < end:
        t = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - t)
    return best


def benchmarked(path):
    """The share of memcpy and the allocations of each program, out of the benchmark's output."""
    found = {}
    for line in open(path):
        m = re.match(r'BenchmarkMovement/(\S+?)(-\d+)?\s.*?([\d.]+) of-memcpy.*?(\d+) allocs/op', line)
        if m:
            found[m[1].replace('_', ' ')] = float(m[3]), int(m[4])
    return found


def digits(x):
    return f'{x:.2f}' if x >= 0.1 else f'{x:.3f}' if x >= 0.01 else f'{x:.4f}'


def main():
    source = open(sys.argv[1]).read()
    ours = benchmarked(sys.argv[2]) if len(sys.argv) > 2 else None
    if ours is not None:
        print('| program | halo ÷ memcpy | NumPy ÷ memcpy | halo ÷ NumPy | allocations |\n|---|---|---|---|---|')
    for name, text, code in re.findall(r'\{"([^"]+)", "([^"]+)", "([^"]*)"\}', source):
        if not code:
            if ours and name in ours:
                print(f'| {name} | {digits(ours[name][0])} | – | – | {ours[name][1]} |')
            continue
        given, size = operands(text)
        names = {'np': np, 'x': given[0]}
        if len(given) > 1:
            names['i'] = given[1].reshape(-1)
        if len(given) > 2:
            names['u'] = given[2]
        if name == 'cholesky':
            names['x'] = given[0] @ given[0].T + len(given[0]) * np.eye(len(given[0]), dtype='f4')
        run = compile(code, name, 'exec')
        src, dst = np.zeros(size // 2, 'u1'), np.zeros(size // 2, 'u1')
        took, copying = seconds(lambda: exec(run, names)), seconds(lambda: np.copyto(dst, src))
        if ours is not None:
            if name in ours:
                share, allocs = ours[name]
                print(f'| {name} | {digits(share)} | {digits(copying / took)} | {share * took / copying:.1f} | {allocs} |')
            continue
        print(f'{name:24} {took * 1e6:10.1f} us  {copying / took:8.4f} of memcpy')


if __name__ == '__main__':
    main()
