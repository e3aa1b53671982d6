// Package eager executes ops one by one, without a program around them.
//
//	rt := eager.NewRuntime(eager.Options{})
//	add, err := rt.MakeOp("add", eager.Attrs{})
//	sum, err := add.Call(nil, x, y)        // a TensorHandle: its shape is known at once, its elements perhaps later
//	l, err := rt.Literal(ctx, sum[0])      // waits
//
// The names are those of TFRT's core runtime:
//
//   - [TensorHandle] is a tensor that may not exist yet: a shape, which usually is known, and an asynchronous [Tensor].
//   - [Op] is an op with its attributes. [Op.Execute] gives handles for the results and waits for nothing.
//   - [OpHandler] makes ops from names. The one that every [Runtime] has knows all of HLO and what [Runtime.RegisterOp] adds; others can be
//     added, and those that do not know a name hand it on to the next.
//   - [Kernel] is a kernel of host programs, executed by itself on values of any type.
//
// # Two paths
//
// Most ops take the fast path: the implementation of hlo.<opcode> that a program would use is bound once for the shapes of the operands,
// and then called. No BEF file, executor or pass has a part in it. Ops that run computations (call, while, conditional, asynchronous ones)
// and composite ops ([Runtime.MakeComposite]) take the general path: they are lowered to a program of one op, which is executed. What has been
// prepared is kept under the canonical text of the op, in a cache of bounded size. Only rng-get-and-update-state is kept by its [Op] alone, as
// each has a state: an [Op] is a place of a program, and [Runtime.Execute] makes another one each time. Ops rng of one text draw from one sequence.
// Those of different texts begin with the same random bits, and one made after the cache has forgotten its text begins anew; keep an [Op] of rng-bit-generator, whose state is
// an operand, where that matters.
//
// # When an op runs
//
// If its operands are there and its work is small, it runs before Execute returns, on either path. Otherwise it runs on the queue of the host, when all its
// operands are there. Ops with effects are ordered by a chain that the caller threads through them ([Invocation.Chain]), as in host programs.
//
// Ops that talk to the host or to other devices (infeed, outfeed, send, recv and their dones) need a *kernels.World in the data of the request or
// of the runtime ([Options.Data]). Without one they are refused, and so are, by their nature, parameter, which is an operand here, and
// set-dimension-size, whose result would have a dynamic dimension.
//
// # Errors
//
// Execute returns errors in the shapes of operands and the attributes at once: an unknown op, a wrong number of operands, a
// shape that the op's rule refuses. A later failure is the error of the results, with the op's name and the location of the invocation, and of all
// that is computed from them. Cancelling a [runtime.Request] fails what it has not begun.
//
// # Memory
//
// Tensors are counted. [TensorHandle.Drop] gives memory back at once; what is not dropped is left to the collector. An invocation that
// consumes its operands may write its result over one that has no other owner.
//
// Arrays are dense and row-major whatever a layout says, and static: dynamic dimensions are refused. Tuples do not exist: an op with a tuple
// result has one handle for each leaf, and [Attrs.Operands] says how handles make up tuple operands.
package eager
