"""Exports the model of this example, and times JAX on the requests that `service -bench` makes.

    python measure.py DIR 8,16,4           # writes DIR/model.jax_export and DIR/weights.safetensors
    python measure.py DIR 8,16,4 --time    # and times JAX
"""

import json
import os
import struct
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import export


def model(params, x):
    for i, layer in enumerate(params['layers']):
        x = x @ layer['w'] + layer['b']
        if i + 1 < len(params['layers']):
            x = jax.nn.gelu(x)
    return jax.nn.softmax(x, -1)


def write(directory, params, width):
    batch, = export.symbolic_shape('b')
    spec = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), params)
    exported = export.export(jax.jit(model))(spec, jax.ShapeDtypeStruct((batch, width), jnp.float32))
    os.makedirs(directory, exist_ok=True)
    with open(directory + '/model.jax_export', 'wb') as f:
        f.write(exported.serialize())
    header, data = {}, b''
    for i, layer in enumerate(params['layers']):
        for name, a in layer.items():
            header[f'layers.{i}.{name}'] = {'dtype': 'F32', 'shape': a.shape, 'data_offsets': [len(data), len(data) + a.nbytes]}
            data += a.tobytes()
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(directory + '/weights.safetensors', 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + data)


def measure(params, width):
    f = jax.jit(model)
    params = jax.device_put(params)
    for n in 1, 64:
        x = np.array([[(i + j) / (64 + width) for j in range(width)] for i in range(n)], np.float32)
        np.asarray(f(params, x))
        times, began = [], time.perf_counter()
        while time.perf_counter() - began < 2 and len(times) < 10000:
            start = time.perf_counter()
            np.asarray(f(params, x))
            times.append(time.perf_counter() - start)
        p50 = sorted(times)[len(times) // 2]
        print(f'batch {n}: p50 {p50 * 1e6:.1f} us, {n / p50:.0f} rows/s')


if __name__ == '__main__':
    sizes = [int(s) for s in sys.argv[2].split(',')]
    r = np.random.RandomState(0)
    params = {'layers': [{'b': (r.randn(b) * .1).astype('f'), 'w': (r.randn(a, b) / np.sqrt(a)).astype('f')} for a, b in zip(sizes, sizes[1:])]}
    write(sys.argv[1], params, sizes[0])
    if '--time' in sys.argv:
        measure(params, sizes[0])
