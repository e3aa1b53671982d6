package hlo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/hlo"
)

func TestLegalName(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "add": "add", "add.7": "add.7", "_": "_", "A-b_c.0": "A-b_c.0", "tuple": "tuple", "buffer": "buffer", "f32.1": "f32.1",
		"7up": "_up", ".x": "_x", "-": "_", "a b%": "a_b_", "\x00é": "a__", "f32": "f32_", "pred": "pred_", "token": "token_", "f8e4m3b11fnuz": "f8e4m3b11fnuz_",
		"__x": "a_x", "___": "a__", "__xla_x": "__xla_x", "\tntry": "_ntry",
	} {
		assert.Equal(t, want, hlo.LegalName(name), "%q", name)
		assert.Equal(t, want, hlo.LegalName(want), "%q again", want)
	}
}
