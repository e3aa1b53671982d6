"""What NumPy does with the programs of BenchmarkMovement, as a part of what copying memory reaches in the same moment.

Run it beside the benchmark, on the same machine: python3 movement_numpy.py ../movement_bench_test.go
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


def main():
    source = open(sys.argv[1]).read()
    for name, text, code in re.findall(r'\{"([^"]+)", "([^"]+)", "([^"]*)"\}', source):
        if not code:
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
        print(f'{name:24} {took * 1e6:10.1f} us  {copying / took:8.4f} of memcpy')


if __name__ == '__main__':
    main()
