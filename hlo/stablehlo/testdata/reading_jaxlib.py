"""How fast jaxlib reads StableHLO beside halo: text into a tree, and portable artifacts into a tree.

Run it in the directory above: python3 testdata/reading_jaxlib.py [ROUNDS [NAME...]]
It lowers four training steps with JAX, and reads each in turns: here with jaxlib's own parser, and in the benchmarks of this package. Times are
those of the processor, of one thread, collector and freeing included, so that other work on the machine counts for little. JAX is
needed for this script only; nothing in the project is.
"""
import gc
import os
import re
import resource
import subprocess
import sys
import tempfile

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
import jax
import jax.numpy as jnp
from jax import export, lax
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

KEY = jax.eval_shape(lambda: jax.random.PRNGKey(0))


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def norm(x, g, axes):
    return (x - x.mean(axes, keepdims=True)) * lax.rsqrt(x.var(axes, keepdims=True) + 1e-5) * g


def adam(loss):
    def step(p, m, v, i, *data):
        cost, g = jax.value_and_grad(loss)(p, *data)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        p = jax.tree.map(lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**i)) / (jnp.sqrt(v / (1 - 0.99**i)) + 1e-8), p, m, v)
        return p, m, v, cost
    return step


def transformer():
    n, d, heads, words, length, batch = 36, 128, 8, 5000, 64, 4

    def attention(x, p):
        q, k, v = ((x @ p[w]).reshape(batch, length, heads, d // heads) for w in 'qkv')
        a = jnp.einsum('bqhd,bkhd->bhqk', q, k) / jnp.sqrt(d // heads)
        a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), a, -1e9))
        return jnp.einsum('bhqk,bkhd->bqhd', a, v).reshape(batch, length, d) @ p['o']

    def loss(params, text):
        x = params['words'][text]
        for p in params['layers']:
            x = x + attention(norm(x, p['g'], -1), p)
            x = x + jax.nn.gelu(norm(x, p['h'], -1) @ p['up']) @ p['down']
        y = jax.nn.log_softmax((x @ params['words'].T)[:, :-1])
        return -jnp.take_along_axis(y, text[:, 1:, None], -1).mean()

    layer = dict({w: f32(d, d) for w in 'qkvo'}, g=f32(d), h=f32(d), up=f32(d, 4 * d), down=f32(4 * d, d))
    p = dict(words=f32(words, d), layers=[layer] * n)
    return adam(loss), (p, p, p, f32(), i32(batch, length))


def convolutions():
    def conv(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))

    def loss(p, x, y, key):
        for k, (v, w, g) in enumerate(p['blocks']):
            x = jax.nn.relu(x + conv(jax.nn.relu(norm(conv(x, v), g, (0, 1, 2))), w))
            if k % 4 == 3:
                x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), 'SAME')
            x = jnp.where(jax.random.uniform(jax.random.fold_in(key, k), x.shape) > 0.1, x / 0.9, 0)
            x = x + jnp.sort(x, axis=-1) * 1e-3
            c, _ = lax.scan(lambda c, a: (jnp.tanh(c @ p['r'] + a), None), jnp.zeros((8, 16)), jnp.moveaxis(x[:, :, 0], 1, 0))
            x = x.at[:, 0, 0].add(c)
            x = lax.cond(c.sum() > 0, lambda x: x * 2, lambda x: x - 1, x)
        return -(jax.nn.one_hot(y, 10) * jax.nn.log_softmax(x.mean((1, 2)) @ p['o'])).sum(-1).mean()

    p = dict(blocks=[(f32(3, 3, 16, 16), f32(3, 3, 16, 16), f32(16))] * 40, r=f32(16, 16), o=f32(16, 10))
    return jax.value_and_grad(loss), (p, f32(8, 16, 16, 16), i32(8), KEY)


def recurrent():
    """Loops in loops: layers of an LSTM, each a scan, and an integrator by fixed steps."""
    def cell(p, state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ p['x'] + h @ p['h'] + p['b'], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def loss(params, x, y):
        for p in params['layers']:
            zero = jnp.zeros((x.shape[1], 32))
            _, x = lax.scan(lambda s, a: cell(p, s, a), (zero, zero), x)
            x = lax.fori_loop(0, 4, lambda _, x: x + 0.1 * jnp.tanh(x @ p['d']), x)
        return ((x[-1] @ params['o'] - y) ** 2).mean()

    layer = dict(x=f32(32, 128), h=f32(32, 128), b=f32(128), d=f32(32, 32))
    p = dict(layers=[layer] * 24, o=f32(32, 4))
    return adam(loss), (p, p, p, f32(), f32(20, 8, 32), f32(8, 4))


def mixture():
    """Experts chosen by top-k and reached by gather and scatter, under vmap, with cumulative sums and random numbers."""
    def experts(p, x, key):
        gate = jax.nn.softmax(x @ p['gate'] + 1e-2 * jax.random.normal(key, (x.shape[0], 8)))
        weight, which = lax.top_k(gate, 2)
        place = jnp.cumsum(jax.nn.one_hot(which, 8, dtype=jnp.int32).reshape(-1, 8), 0).reshape(*which.shape, 8)
        place = jnp.take_along_axis(place, which[..., None], -1)[..., 0] - 1
        slots = jnp.zeros((8, 16, x.shape[-1])).at[which, place].add(x[:, None], mode='drop')
        done = jax.vmap(lambda a, u, d: jax.nn.silu(a @ u) @ d)(slots, p['up'], p['down'])
        return (done.at[which, place].get(mode='fill', fill_value=0) * weight[..., None]).sum(1)

    def loss(params, x, y, key):
        for k, p in enumerate(params):
            x = x + jax.vmap(experts, (None, 0, None))(p, x, jax.random.fold_in(key, k))
        return jnp.square(x - y).mean()

    layer = dict(gate=f32(32, 8), up=f32(8, 32, 64), down=f32(8, 64, 32))
    p = [layer] * 24
    return adam(loss), (p, p, p, f32(), f32(4, 32, 32), f32(4, 32, 32), KEY)


PROGRAMS = dict(transformer=transformer, convolutions=convolutions, recurrent=recurrent, mixture=mixture)


def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


class Times:
    """Seconds of each reading: the best, and the mean with freeing."""
    def __init__(self):
        self.best, self.total, self.n = float('inf'), 0, 0

    def read(self, f):
        start = cpu()
        module = f()
        self.best = min(self.best, cpu() - start)
        del module
        self.total, self.n = self.total + cpu() - start, self.n + 1

    def add(self, best, mean):
        self.best, self.total, self.n = min(self.best, best), self.total + mean, self.n + 1


def halo(binary, benchmark, program, times):
    run = subprocess.run([binary, '-test.run=^$', f'-test.bench=^Benchmark{benchmark}$', '-test.benchtime=10x', '-test.cpu=1'],
                         env=dict(os.environ, HALO_STABLEHLO_BENCH=program), capture_output=True, text=True, check=True)
    figure = {unit: float(v) / 1e3 for v, unit in re.findall(r'([\d.e+-]+) (\S+-ms)', run.stdout)}
    times.add(figure['best-ms'], figure['mean-ms'])


def main():
    rounds, names = int((sys.argv[1:] or ['5'])[0]), sys.argv[2:] or PROGRAMS
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, 'bench')
        subprocess.run(['go', 'test', '-c', '-o', binary, '.'], check=True)
        for name in names:
            step, args = PROGRAMS[name]()
            text = jax.jit(step).lower(*args).as_text(debug_info=True)
            data = export.export(jax.jit(step))(*args).mlir_module_serialized
            program = os.path.join(folder, name)
            with open(program + '.mlir', 'w') as f:
                f.write(text)
            with open(program + '.mlirbc', 'wb') as f:
                f.write(data)
            with mlir.make_ir_context() as context, ir.Location.unknown(context):
                for what, size, benchmark, read in (
                        ('text', len(text), 'Text', lambda: ir.Module.parse(text)),
                        ('bytecode', len(data), 'Bytecode', lambda: stablehlo.deserialize_portable_artifact(context, data))):
                    ours, theirs = Times(), Times()
                    for _ in range(rounds):
                        gc.collect()
                        theirs.read(read)
                        halo(binary, benchmark, program, ours)
                        theirs.read(read)
                    mean, other = ours.total / ours.n, theirs.total / theirs.n
                    print(f'{name} {what} {size / 1e6:.2f} MB: mean {size / mean / 1e6:.0f} MB/s, jaxlib {size / other / 1e6:.0f}: {other / mean:.1f}x; '
                          f'best {size / ours.best / 1e6:.0f}, jaxlib {size / theirs.best / 1e6:.0f}: {theirs.best / ours.best:.1f}x', flush=True)


if __name__ == '__main__':
    main()
