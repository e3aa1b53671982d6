package eval

import "testing"

// TestComplexSingle compares with the bits of XLA's CPU compiler (jaxlib 0.10.2).
func TestComplexSingle(t *testing.T) {
	for _, c := range []struct{ z, w, exp, sin, cos, power complex64 }{
		{complex(0x1.acde6ep+4, 0x1.1663bp+5), complex(0x1.8bb506p+1, -0x1.c559c4p-1), complex(-0x1.8ba5d2p+38, -0x1.853a04p+36), complex(0x1.255ccp+49, -0x1.da95dp+45), complex(-0x1.da95dp+45, -0x1.255ccp+49), complex(0x1.c7a892p+17, -0x1.063cb4p+17)},
		{complex(-0x1.ea6f92p+3, -0x1.c8f9p-4), complex(0x1.763be6p+1, 0x1.eb0838p+1), complex(0x1.d72a0ep-23, -0x1.a6477cp-26), complex(-0x1.7ff3d6p-2, 0x1.a8f0fep-4), complex(-0x1.de15d4p-1, -0x1.5545bap-5), complex(0x1.e3f256p+26, 0x1.c0a994p+28)},
		{complex(-0x1.b6ec52p+4, -0x1.2d3b76p+4), complex(0x1.358fbap+1, 0x1.c08e5p-1), complex(0x1.5721ccp-40, 0x1.ef0d68p-46), complex(-0x1.ab15d2p+25, 0x1.7d8f0ep+25), complex(-0x1.7d8f0ep+25, -0x1.ab15d2p+25), complex(-0x1.5a2a8cp+15, -0x1.7e0566p+11)},
		{complex(0x1.abc36p+1, 0x1.182046p-2), complex(0x1.2be4cp+2, 0x1.9058fp-2), complex(0x1.b38b22p+4, 0x1.e8d886p+2), complex(-0x1.a6d58cp-3, -0x1.15f644p-2), complex(-0x1.0453d8p+0, 0x1.c37a0cp-5), complex(0x1.701dacp+7, 0x1.a7eb8p+7)},
		{complex(0x1.00e77ep+4, -0x1.51a2d6p+4), complex(0x1.0d7cb4p+2, 0x1.34b454p+2), complex(-0x1.69b68cp+22, -0x1.bd8fep+22), complex(-0x1.dbcf1cp+27, 0x1.47572ap+29), complex(-0x1.47572ap+29, -0x1.dbcf1cp+27), complex(0x1.014f36p+26, -0x1.785f5ep+25)},
		{complex(-0x1.9ad3b4p+1, 0x1.4c993cp+4), complex(-0x1.fcaf8ap-1, 0x1.ddc80ep-5), complex(-0x1.dac53p-7, 0x1.34b4f8p-5), complex(0x1.1457a6p+25, -0x1.fb405ap+28), complex(-0x1.fb405ap+28, -0x1.1457a6p+25), complex(0x1.9977cp-10, -0x1.66ffeap-5)},
		{complex(0x1.056e0ap+4, -0x1.b26408p+4), complex(0x1.b34cc6p+1, 0x1.60823cp-1), complex(-0x1.4867eap+22, -0x1.578764p+23), complex(-0x1.53a00ep+37, 0x1.d06f9ap+37), complex(-0x1.d06f9ap+37, -0x1.53a00ep+37), complex(0x1.b732bap+16, -0x1.c5d846p+17)},
		{complex(0x1.7df43p+5, -0x1.03632ap+3), complex(-0x1.839c8p+2, -0x1.6fdeeep-1), complex(-0x1.d5c878p+66, -0x1.c862f4p+68), complex(-0x1.e19768p+9, 0x1.510c38p+10), complex(-0x1.510c3cp+10, -0x1.e19764p+9), complex(-0x1.7ef124p-37, -0x1.dbf4d8p-35)},
		{complex(0x1.10749ap+3, 0x1.682bdap+3), complex(-0x1.6795f6p+1, -0x1.57e5f2p+0), complex(0x1.40226ap+10, -0x1.2d1f42p+12), complex(0x1.dcf12ap+14, -0x1.725984p+14), complex(-0x1.725984p+14, -0x1.dcf12ap+14), complex(0x1.089ea8p-9, 0x1.1ce33p-12)},
	} {
		got := [4]complex64{expOf64(c.z), sinOf64(c.z), cosOf64(c.z), powerOf64(c.z, c.w)}
		if want := [4]complex64{c.exp, c.sin, c.cos, c.power}; got != want {
			t.Errorf("exp, sin, cos of %v and its power %v = %v, want %v", c.z, c.w, got, want)
		}
	}
}
