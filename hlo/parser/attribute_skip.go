package parser

import (
	"strings"
)

// skipValue moves the cursor behind a value of any type.
func (p *parser) skipValue() {
	s := p.src
	i := p.pos
	if i >= len(s) {
		p.fail("expects a value")
	}
	if s[i] == '{' {
		end, msg := skipKeyed(s, i)
		if end == i && msg == "" {
			end, msg = skipGroup(s, i)
		}
		if msg != "" {
			p.failAt(end, "%s", msg)
		}
		p.pos = end
		return
	}
	isMesh := strings.HasPrefix(s[i:], "mesh[") || strings.HasPrefix(s[i:], "maximal_mesh[")
	i, err := skipUnits(s, i)
	if err != nil {
		t, _ := asTextError(err)
		p.failAt(t.off, "%s", t.msg)
	}
	if isMesh {
		i = p.skipMeshRest(i)
	}
	if i == p.pos {
		p.fail("expects a value")
	}
	p.pos = i
}

// skipShapedLiteral moves the cursor behind a literal that brings its shape along.
func (p *parser) skipShapedLiteral() {
	if p.peek() != '(' {
		end, msg := skipShape(p.src, p.pos)
		if msg != "" {
			p.failAt(end, "%s", msg)
		}
		p.pos = end
	}
	p.space()
	p.skipValue()
}

// skipMeshRest skips what follows `mesh[...]` in replica groups: device ids after a comma, then axes in braces.
func (p *parser) skipMeshRest(i int) int {
	s := p.src
	end := i
	i = skipSpace(s, i)
	if i < len(s) && s[i] == ',' {
		j := skipSpace(s, i+1)
		if !strings.HasPrefix(s[j:], "device_ids=") {
			return end
		}
		var err error
		if end, err = skipUnit(s, skipSpace(s, j+len("device_ids="))); err != nil {
			t, _ := asTextError(err)
			p.failAt(t.off, "%s", t.msg)
		}
		i = skipSpace(s, end)
	}
	if i < len(s) && s[i] == '{' {
		var msg string
		if end, msg = skipGroup(s, i); msg != "" {
			p.failAt(end, "%s", msg)
		}
	}
	return end
}
