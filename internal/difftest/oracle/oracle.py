"""Runs HLO programs with XLA:CPU for the oracle command, which starts it. Each request on standard input is a length and the text of a
module, then a count and, for each leaf of the parameters, a length and its elements; lengths and counts are 8 bytes, little-endian. The
answer on standard output is 0, a count and the leaves of the result; or 1, a length and a message."""
import os
import struct
import sys

os.environ.update(JAX_PLATFORMS='cpu', TF_CPP_MIN_LOG_LEVEL='3',
                  XLA_FLAGS='--xla_cpu_enable_fast_min_max=false --xla_backend_optimization_level=0 --xla_allow_excess_precision=false')
import numpy as np
import jax
from jax._src.lib import xla_client
from jaxlib import _hlo, _jax

jax.config.update('jax_enable_x64', True)
answers, sys.stdout = os.fdopen(os.dup(1), 'wb'), sys.stderr
requests, device = sys.stdin.buffer, jax.local_devices()[0]


def number():
    return struct.unpack('<q', requests.read(8))[0]


def leaves(shape):
    if not shape.is_tuple():
        return [shape]
    return [leaf for part in shape.tuple_shapes() for leaf in leaves(part)]


def run(text, arrays):
    module = _hlo.hlo_module_from_text(text)
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    program = device.client.compile_and_load(_jax.mlir.xla_computation_to_mlir_module(computation), [device], xla_client.CompileOptions())
    shapes = [leaf for s in computation.program_shape().parameter_shapes() for leaf in leaves(s)]
    args = [jax.device_put(np.frombuffer(a, s.numpy_dtype()).reshape(s.dimensions())) for a, s in zip(arrays, shapes, strict=True)]
    results = program.execute_sharded(args).disassemble_into_single_device_arrays()
    return [np.asarray(r[0]).tobytes() for r in results]


while header := requests.read(8):
    text = requests.read(struct.unpack('<q', header)[0]).decode()
    arrays = [requests.read(number()) for _ in range(number())]
    try:
        results = run(text, arrays)
    except Exception as e:  # XLA reports by exceptions of many types
        message = str(e).encode()
        answers.write(struct.pack('<qq', 1, len(message)) + message)
    else:
        answers.write(struct.pack('<qq', 0, len(results)) + b''.join(struct.pack('<q', len(r)) + r for r in results))
    answers.flush()
