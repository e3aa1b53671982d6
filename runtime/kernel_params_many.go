package runtime

// Params of more parameters, as kernels on several tensors have them. See kernel_params.go.

// Params6 makes a kernel of six parameters.
func Params6[A, B, C, D, E, F any, PA paramPointer[A], PB paramPointer[B], PC paramPointer[C], PD paramPointer[D], PE paramPointer[E], PF paramPointer[F]](fn func(A, B, C, D, E, F) error) Kernel {
	var sig Signature
	PA(new(A)).declare(&sig)
	PB(new(B)).declare(&sig)
	PC(new(C)).declare(&sig)
	PD(new(D)).declare(&sig)
	PE(new(E)).declare(&sig)
	PF(new(F)).declare(&sig)
	return Kernel{Signature: &sig, Run: func(f *Frame) {
		var u A
		var v B
		var w C
		var x D
		var y E
		var z F
		cur := bound(f)
		PA(&u).bind(&cur)
		PB(&v).bind(&cur)
		PC(&w).bind(&cur)
		PD(&x).bind(&cur)
		PE(&y).bind(&cur)
		PF(&z).bind(&cur)
		if cur.finish(f) {
			finishParams(f, fn(u, v, w, x, y, z))
		}
	}}
}

// Params7 makes a kernel of seven parameters.
func Params7[A, B, C, D, E, F, G any, PA paramPointer[A], PB paramPointer[B], PC paramPointer[C], PD paramPointer[D], PE paramPointer[E], PF paramPointer[F], PG paramPointer[G]](fn func(A, B, C, D, E, F, G) error) Kernel {
	var sig Signature
	PA(new(A)).declare(&sig)
	PB(new(B)).declare(&sig)
	PC(new(C)).declare(&sig)
	PD(new(D)).declare(&sig)
	PE(new(E)).declare(&sig)
	PF(new(F)).declare(&sig)
	PG(new(G)).declare(&sig)
	return Kernel{Signature: &sig, Run: func(f *Frame) {
		var t A
		var u B
		var v C
		var w D
		var x E
		var y F
		var z G
		cur := bound(f)
		PA(&t).bind(&cur)
		PB(&u).bind(&cur)
		PC(&v).bind(&cur)
		PD(&w).bind(&cur)
		PE(&x).bind(&cur)
		PF(&y).bind(&cur)
		PG(&z).bind(&cur)
		if cur.finish(f) {
			finishParams(f, fn(t, u, v, w, x, y, z))
		}
	}}
}

// Params8 makes a kernel of eight parameters.
func Params8[A, B, C, D, E, F, G, H any, PA paramPointer[A], PB paramPointer[B], PC paramPointer[C], PD paramPointer[D], PE paramPointer[E], PF paramPointer[F], PG paramPointer[G], PH paramPointer[H]](fn func(A, B, C, D, E, F, G, H) error) Kernel {
	var sig Signature
	PA(new(A)).declare(&sig)
	PB(new(B)).declare(&sig)
	PC(new(C)).declare(&sig)
	PD(new(D)).declare(&sig)
	PE(new(E)).declare(&sig)
	PF(new(F)).declare(&sig)
	PG(new(G)).declare(&sig)
	PH(new(H)).declare(&sig)
	return Kernel{Signature: &sig, Run: func(f *Frame) {
		var s A
		var t B
		var u C
		var v D
		var w E
		var x F
		var y G
		var z H
		cur := bound(f)
		PA(&s).bind(&cur)
		PB(&t).bind(&cur)
		PC(&u).bind(&cur)
		PD(&v).bind(&cur)
		PE(&w).bind(&cur)
		PF(&x).bind(&cur)
		PG(&y).bind(&cur)
		PH(&z).bind(&cur)
		if cur.finish(f) {
			finishParams(f, fn(s, t, u, v, w, x, y, z))
		}
	}}
}
