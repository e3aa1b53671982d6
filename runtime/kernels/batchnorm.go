package kernels

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime"
)

// Batch normalisation is expanded into a fusion of sums and elementwise code, which runs as a sequence. What there is one of for each
// feature is a fusion of its own, for otherwise it would be computed anew for each element.
const (
	batchNormParts = `HloModule batch-norm
add { a = C[] parameter(0) b = C[] parameter(1) ROOT c = C[] add(a, b) }
sum {
  x = T[D] parameter(0)
  w = C[D] convert(x)
  z = C[] constant(0)
  ROOT r = C[F] reduce(w, z), dimensions={R}, to_apply=add
}
deviations {
  x = T[D] parameter(0)
  w = C[D] convert(x)
  mean = C[F] parameter(1)
  m = C[D] broadcast(mean), dimensions={A}
  ROOT d = C[D] subtract(w, m)
}
squares {
  x = T[D] parameter(0)
  mean = C[F] parameter(1)
  w = C[D] convert(x)
  m = C[D] broadcast(mean), dimensions={A}
  d = C[D] subtract(w, m)
  s = C[D] multiply(d, d)
  z = C[] constant(0)
  ROOT r = C[F] reduce(s, z), dimensions={R}, to_apply=add
}
products {
  x = T[D] parameter(0)
  mean = C[F] parameter(1)
  g = T[D] parameter(2)
  w = C[D] convert(x)
  v = C[D] convert(g)
  m = C[D] broadcast(mean), dimensions={A}
  d = C[D] subtract(w, m)
  s = C[D] multiply(v, d)
  z = C[] constant(0)
  ROOT r = C[F] reduce(s, z), dimensions={R}, to_apply=add
}
share {
  s = C[F] parameter(0)
  n = C[] constant(N)
  b = C[F] broadcast(n), dimensions={}
  ROOT r = C[F] divide(s, b)
}
wide { x = T[F] parameter(0) ROOT r = C[F] convert(x) }
deviation {
  variance = C[F] parameter(0)
  e = C[] constant(E)
  b = C[F] broadcast(e), dimensions={}
  v = C[F] add(variance, b)
  ROOT r = C[F] sqrt(v)
}
scales {
  scale = T[F] parameter(0)
  deviation = C[F] parameter(1)
  w = C[F] convert(scale)
  ROOT r = C[F] divide(w, deviation)
}
`
	// normalize is y = (x - mean)·k + offset, for the k of each feature.
	batchNormNormalize = `
  mb = C[D] broadcast(mean), dimensions={A}
  kb = C[D] broadcast(k), dimensions={A}
  ob = C[D] broadcast(wo), dimensions={A}
  xw = C[D] convert(x)
  d = C[D] subtract(xw, mb)
  dk = C[D] multiply(d, kb)
  yw = C[D] add(dk, ob)
  y = T[D] convert(yw)
`
	batchNormTraining = `body {
  x = T[D] parameter(0)
  scale = T[F] parameter(1)
  offset = T[F] parameter(2)
  total = C[F] fusion(x), kind=kInput, calls=sum
  mean = C[F] fusion(total), kind=kLoop, calls=share
  around = C[F] fusion(x, mean), kind=kInput, calls=squares
  variance = C[F] fusion(around), kind=kLoop, calls=share
  dev = C[F] fusion(variance), kind=kLoop, calls=deviation
  k = C[F] fusion(scale, dev), kind=kLoop, calls=scales
  wo = C[F] fusion(offset), kind=kLoop, calls=wide` + batchNormNormalize + `
  mt = T[F] convert(mean)
  vt = T[F] convert(variance)
  ROOT t = (T[D], T[F], T[F]) tuple(y, mt, vt)
}
ENTRY e {
  x = T[D] parameter(0)
  scale = T[F] parameter(1)
  offset = T[F] parameter(2)
  ROOT r = (T[D], T[F], T[F]) fusion(x, scale, offset), kind=kLoop, calls=body
}`
	batchNormInference = `body {
  x = T[D] parameter(0)
  scale = T[F] parameter(1)
  offset = T[F] parameter(2)
  m = T[F] parameter(3)
  v = T[F] parameter(4)
  mean = C[F] fusion(m), kind=kLoop, calls=wide
  variance = C[F] fusion(v), kind=kLoop, calls=wide
  dev = C[F] fusion(variance), kind=kLoop, calls=deviation
  k = C[F] fusion(scale, dev), kind=kLoop, calls=scales
  wo = C[F] fusion(offset), kind=kLoop, calls=wide` + batchNormNormalize + `
  ROOT r = T[D] copy(y)
}
ENTRY e {
  x = T[D] parameter(0)
  scale = T[F] parameter(1)
  offset = T[F] parameter(2)
  m = T[F] parameter(3)
  v = T[F] parameter(4)
  ROOT r = T[D] fusion(x, scale, offset, m, v), kind=kLoop, calls=body
}`
	// The gradient is k·(g - Σg/N - (x - mean)·Σg·(x - mean)/(N·(variance + eps))).
	batchNormGrad = `slope {
  p = C[F] parameter(0)
  dev = C[F] parameter(1)
  v = C[F] multiply(dev, dev)
  ROOT r = C[F] divide(p, v)
}
body {
  x = T[D] parameter(0)
  scale = T[F] parameter(1)
  m = T[F] parameter(2)
  v = T[F] parameter(3)
  g = T[D] parameter(4)
  mean = C[F] fusion(m), kind=kLoop, calls=wide
  variance = C[F] fusion(v), kind=kLoop, calls=wide
  dev = C[F] fusion(variance), kind=kLoop, calls=deviation
  k = C[F] fusion(scale, dev), kind=kLoop, calls=scales
  p = C[F] fusion(x, mean, g), kind=kInput, calls=products
  total = C[F] fusion(g), kind=kInput, calls=sum
  pn = C[F] fusion(p), kind=kLoop, calls=share
  tn = C[F] fusion(total), kind=kLoop, calls=share
  sl = C[F] fusion(pn, dev), kind=kLoop, calls=slope
  mb = C[D] broadcast(mean), dimensions={A}
  kb = C[D] broadcast(k), dimensions={A}
  tb = C[D] broadcast(tn), dimensions={A}
  sb = C[D] broadcast(sl), dimensions={A}
  xw = C[D] convert(x)
  gw = C[D] convert(g)
  d = C[D] subtract(xw, mb)
  ds = C[D] multiply(d, sb)
  g1 = C[D] subtract(gw, tb)
  g2 = C[D] subtract(g1, ds)
  g3 = C[D] multiply(kb, g2)
  dx = T[D] convert(g3)
  pd = C[F] divide(p, dev)
  dscale = T[F] convert(pd)
  doffset = T[F] convert(total)
  ROOT t = (T[D], T[F], T[F]) tuple(dx, dscale, doffset)
}
ENTRY e {
  x = T[D] parameter(0)
  scale = T[F] parameter(1)
  m = T[F] parameter(2)
  v = T[F] parameter(3)
  g = T[D] parameter(4)
  ROOT r = (T[D], T[F], T[F]) fusion(x, scale, m, v, g), kind=kLoop, calls=body
}`
)

func batchNorm(expansion string) chooser {
	return func(s *site) (runtime.Bound, bool) {
		a, x := hlo.AttrsOf[hlo.BatchNormAttrs](s.in), s.shape(0)
		if x.NumElements() == 0 || !x.Type().IsFloat() {
			return runtime.Bound{}, false
		}
		for i := 1; i < s.in.NumOperands(); i++ {
			if s.shape(i).Type() != x.Type() {
				return runtime.Bound{}, false
			}
		}
		wide := x.Type()
		if wide.Bits() < 32 {
			wide = hlo.F32
		}
		var others []string
		for d := range x.Rank() {
			if int64(d) != a.FeatureIndex {
				others = append(others, strconv.Itoa(d))
			}
		}
		features := x.Dim(int(a.FeatureIndex))
		fill := strings.NewReplacer(
			"T[D]", shapeText(x.Type(), x.Dimensions()), "C[D]", shapeText(wide, x.Dimensions()),
			"T[F]", shapeText(x.Type(), []int64{features}), "C[F]", shapeText(wide, []int64{features}), "C[]", shapeText(wide, nil),
			"{R}", "{"+strings.Join(others, ",")+"}", "{A}", fmt.Sprintf("{%d}", a.FeatureIndex),
			"(N)", fmt.Sprintf("(%d)", x.NumElements()/features), "(E)", "("+strconv.FormatFloat(float64(a.Epsilon), 'g', -1, 64)+")")
		return expanded(s, fill.Replace(batchNormParts+expansion))
	}
}

// shapeText is how HLO writes an array.
func shapeText(t hlo.PrimitiveType, dims []int64) string {
	return t.String() + strings.ReplaceAll(fmt.Sprint(append([]int64{}, dims...)), " ", ",")
}

// expanded runs a module whose entry is a fusion of the operands of s in the place of s.
func expanded(s *site, text string) (runtime.Bound, bool) {
	m, err := parser.Parse("expansion of "+s.in.Opcode().String(), text)
	if err != nil {
		panic(fmt.Sprintf("kernels: %v", err))
	}
	return fusedSequence(&site{m: m, in: m.Entry().Root(), b: s.b, reg: s.reg})
}
