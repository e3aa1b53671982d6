package kernels

import (
	"testing"
	"time"

	"github.com/gohalo/halo/runtime"
)

// movement is ops that move or select elements, and what does the same in NumPy: testdata/movement_numpy.py reads this table.
var movement = []struct{ name, text, numpy string }{
	{"transpose 2d", "f32[1024,1024] transpose(f32[1024,1024]), dimensions={1,0}", "x.T.copy()"},
	{"transpose 2d u8", "u8[2048,2048] transpose(u8[2048,2048]), dimensions={1,0}", "x.T.copy()"},
	{"transpose 2d bf16", "bf16[1024,2048] transpose(bf16[2048,1024]), dimensions={1,0}", "x.T.copy()"},
	{"transpose 2d f64", "f64[512,1024] transpose(f64[1024,512]), dimensions={1,0}", "x.T.copy()"},
	{"transpose nchw", "f32[8,56,56,64] transpose(f32[8,64,56,56]), dimensions={0,2,3,1}", "x.transpose(0, 2, 3, 1).copy()"},
	{"transpose heads", "f32[8,12,128,64] transpose(f32[8,128,12,64]), dimensions={0,2,1,3}", "x.transpose(0, 2, 1, 3).copy()"},
	{"transpose batch", "f32[64,128,128] transpose(f32[64,128,128]), dimensions={0,2,1}", "x.transpose(0, 2, 1).copy()"},
	{"reverse minor", "f32[1024,1024] reverse(f32[1024,1024]), dimensions={1}", "x[:, ::-1].copy()"},
	{"reverse major", "f32[1024,1024] reverse(f32[1024,1024]), dimensions={0}", "x[::-1].copy()"},
	{"pad edges", "f32[1026,1026] pad(f32[1024,1024], f32[]), padding=1_1x1_1", "np.pad(x, 1)"},
	{"pad interior", "f32[2047,512] pad(f32[1024,512], f32[]), padding=0_0_1x0_0", "y = np.zeros((2047, 512), x.dtype); y[::2] = x"},
	{"pad minor", "f32[512,2047] pad(f32[512,1024], f32[]), padding=0_0x0_0_1", "y = np.zeros((512, 2047), x.dtype); y[:, ::2] = x"},
	{"slice block", "f32[1000,1000] slice(f32[1024,1024]), slice={[12:1012],[12:1012]}", "x[12:1012, 12:1012].copy()"},
	{"slice strided", "f32[1024,1024] slice(f32[1024,2048]), slice={[0:1024],[0:2048:2]}", "x[:, ::2].copy()"},
	{"slice strided rows", "f32[1024,1024] slice(f32[2048,1024]), slice={[0:2048:2],[0:1024]}", "x[::2].copy()"},
	{"concatenate minor", "f32[1024,1024] concatenate(f32[1024,512], f32[1024,512]), dimensions={1}", "np.concatenate([x, x], 1)"},
	{"concatenate narrow", "f32[262144,4] concatenate(f32[262144,2], f32[262144,2]), dimensions={1}", "np.concatenate([x, x], 1)"},
	{"broadcast rows", "f32[1024,1024] broadcast(f32[1024]), dimensions={1}", "np.broadcast_to(x, (1024, 1024)).copy()"},
	{"broadcast columns", "f32[1024,1024] broadcast(f32[1024]), dimensions={0}", "np.broadcast_to(x[:, None], (1024, 1024)).copy()"},
	{"dynamic-slice", "f32[512,1024] dynamic-slice(f32[1024,1024], s32[], s32[]), dynamic_slice_sizes={512,1024}", "x[5:517].copy()"},
	{"dynamic-update-slice", "f32[1024,1024] dynamic-update-slice(f32[1024,1024], f32[512,512], s32[], s32[])", "y = x.copy(); y[7:519, 9:521] = 1"},
	{"gather rows", "f32[16384,64] gather(f32[8192,64], s32[16384,1]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}", "x[i]"},
	{"gather elements", "f32[1048576] gather(f32[1048576], s32[1048576,1]), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}", "x[i]"},
	{"scatter-add rows", "f32[8192,64] scatter(f32[8192,64], s32[16384,1], f32[16384,64]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }", "np.add.at(x, i, u)"},
	{"scatter-add elements", "f32[1048576] scatter(f32[1048576], s32[1048576,1], f32[1048576]), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }", "np.add.at(x, i, u)"},
	{"scatter rows", "f32[8192,64] scatter(f32[8192,64], s32[16384,1], f32[16384,64]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply={ a = f32[] parameter(0) ROOT b = f32[] parameter(1) }", "x[i] = u"},
	{"sort", "f32[1048576] sort(f32[1048576]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }", "np.sort(x)"},
	{"sort rows", "f32[1024,1024] sort(f32[1024,1024]), dimensions={1}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }", "np.sort(x, 1)"},
	{"sort pairs", "(f32[1048576], s32[1048576]) sort(f32[1048576], s32[1048576]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) ROOT e = pred[] compare(a, b), direction=LT }", "np.argsort(x, kind='stable')"},
	{"sort f64", "f64[262144] sort(f64[262144]), dimensions={0}, to_apply={ a = f64[] parameter(0) b = f64[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }", "np.sort(x)"},
	{"max pool", "f32[8,28,28,64] reduce-window(f32[8,56,56,64], f32[]), window={size=1x2x2x1 stride=1x2x2x1}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }", "np.maximum.reduce([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)])"},
	{"max pool nchw", "f32[8,64,28,28] reduce-window(f32[8,64,56,56], f32[]), window={size=1x1x2x2 stride=1x1x2x2}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }", "np.maximum.reduce([x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)])"},
	{"cumsum", "f32[1024,1024] reduce-window(f32[1024,1024], f32[]), window={size=1x1024 pad=0_0x1023_0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }", "np.cumsum(x, 1)"},
	{"reduce", "f32[] reduce(f32[1048576], f32[]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }", "x.sum()"},
	{"select-and-scatter", "f32[8,56,56,16] select-and-scatter(f32[8,56,56,16], f32[8,28,28,16], f32[]), window={size=1x2x2x1 stride=1x2x2x1}, select={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }, scatter={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }", ""},
	{"topk", "(f32[64,8], s32[64,8]) topk(f32[64,32768]), k=8, largest=true", "np.argpartition(-x, 8, 1)[:, :8]"},
	{"fft", "c64[64,1024] fft(c64[64,1024]), fft_type=FFT, fft_length={1024}", "np.fft.fft(x)"},
	{"rng bits", "(u64[3], u32[1048576]) rng-bit-generator(u64[3]), algorithm=rng_philox", ""},
	{"rng bits threefry", "(u64[2], u32[1048576]) rng-bit-generator(u64[2]), algorithm=rng_three_fry", ""},
	{"cholesky", "f32[256,256] cholesky(f32[256,256]), lower=true", "np.linalg.cholesky(x)"},
	{"triangular-solve", "f32[256,256] triangular-solve(f32[256,256], f32[256,256]), left_side=true, lower=true, transpose_a=NO_TRANSPOSE", ""},
	{"batch-norm-inference", "f32[8,56,56,64] batch-norm-inference(f32[8,56,56,64], f32[64], f32[64], f32[64], f32[64]), epsilon=0.001, feature_index=3", ""},
	{"batch-norm-training", "(f32[8,56,56,64], f32[64], f32[64]) batch-norm-training(f32[8,56,56,64], f32[64], f32[64]), epsilon=0.001, feature_index=3", ""},
	{"complex multiply", "c64[1048576] multiply(c64[1048576], c64[1048576])", "x * x"},
	{"complex exponential", "c64[262144] exponential(c64[262144])", "np.exp(x)"},
}

// BenchmarkMovement times single kernels on one thread, and gives their throughput as a part of what copying memory reaches in the
// same moment: bytes read and written a second.
func BenchmarkMovement(b *testing.B) {
	for _, m := range movement {
		b.Run(m.name, func(b *testing.B) {
			s := siteOf(b, m.text)
			bound, err := choose(s)
			if err != nil {
				b.Fatal(err)
			}
			var ins, outs []*runtime.Buffer
			bytes := int64(0)
			for i, t := range s.b.In {
				x := t.NewBuffer()
				fillForBench(s, i, x)
				ins = append(ins, &x)
				bytes += t.Bytes
			}
			for _, t := range s.b.Out {
				x := t.NewBuffer()
				outs = append(outs, &x)
				bytes += t.Bytes
			}
			f := runtime.NewTensorFrame(&runtime.ExecContext{}, ins, outs, runtime.AlignedBytes(bound.Scratch))
			src, dst := make([]byte, bytes/2), make([]byte, bytes/2)
			copy(dst, src)
			copying := time.Duration(0)
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				if err := bound.Run(f); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				began := time.Now()
				copy(dst, src)
				copying += time.Since(began)
				b.StartTimer()
			}
			b.ReportMetric(float64(copying)/float64(b.Elapsed()), "of-memcpy")
		})
	}
}

// fillForBench makes numbers in no order; indices are within the first operand.
func fillForBench(s *site, i int, x runtime.Buffer) {
	shape := s.shape(min(i, s.in.NumOperands()-1))
	state := uint64(88172645463325252)
	next := func() uint64 {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return state
	}
	switch t := shape.Type(); {
	case t.String() == "f32" || t.String() == "c64":
		v := elems[float32](x.Data)
		for k := range v {
			v[k] = float32(next()>>40)*0x1p-24 + 0.5
		}
		if n := s.shape(0).Dim(0); s.in.Opcode().String() == "cholesky" || s.in.Opcode().String() == "triangular-solve" {
			for k := range int(n) {
				v[k*int(n)+k] += 2 * float32(n)
			}
		}
	case t.String() == "f64":
		v := elems[float64](x.Data)
		for k := range v {
			v[k] = float64(next()>>11)*0x1p-53 + 0.5
		}
	case t.String() == "s32" && i > 0:
		v := elems[int32](x.Data)
		for k := range v {
			v[k] = int32(next() % uint64(max(1, s.shape(0).Dim(0))))
		}
	default:
		for k := range x.Data {
			x.Data[k] = byte(next())
		}
	}
}
