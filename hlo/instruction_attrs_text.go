package hlo

import "strconv"

// Text of the attributes that any instruction may have (hlo-text section 6).

// AppendText appends `{key="value",key2={raw}}`.
func (f *FrontendAttributes) AppendText(b []byte) []byte {
	b = append(b, '{')
	if f != nil {
		for i, e := range f.Entries {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, e.Key...), '=')
			b = AppendDictOrQuoted(b, e.Value)
		}
	}
	return append(b, '}')
}

// IsWritten reports whether text has a metadata attribute for m: XLA leaves out metadata that only says where in an unnamed file it
// was. A lone deduplicated_name is written, though XLA loses it.
func (m *Metadata) IsWritten() bool {
	return m != nil && (m.OpType != "" || m.OpName != "" || m.SourceFile != "" || m.SchedulingName != "" || m.StackFrameID != 0 ||
		m.HasPayload || m.DeduplicatedName != "")
}

// AppendText appends `{op_type="a" op_name="b"}`.
func (m *Metadata) AppendText(b []byte) []byte {
	b = append(b, '{')
	start := len(b)
	key := func(name string) {
		if len(b) > start {
			b = append(b, ' ')
		}
		b = append(append(b, name...), '=')
	}
	str := func(name, v string) {
		if v != "" {
			key(name)
			b = AppendQuoted(b, v)
		}
	}
	num := func(name string, v int32) {
		if v != 0 {
			key(name)
			b = strconv.AppendInt(b, int64(v), 10)
		}
	}
	str("op_type", m.OpType)
	str("op_name", m.OpName)
	str("source_file", m.SourceFile)
	num("source_line", m.SourceLine)
	num("source_end_line", m.SourceEndLine)
	num("source_column", m.SourceColumn)
	num("source_end_column", m.SourceEndColumn)
	if len(m.ProfileType) > 0 {
		key("profile_type")
		b = appendIntList(b, m.ProfileType)
	}
	str("deduplicated_name", m.DeduplicatedName)
	if m.SchedulingName != "" {
		key("scheduling_name")
		b = appendVerbatim(b, m.SchedulingName)
	}
	num("stack_frame_id", m.StackFrameID)
	if m.HasPayload {
		key("metadata_payload")
		b = AppendQuoted(b, m.Payload)
	}
	return append(b, '}')
}

// AppendText appends `{visualizing_index=0,max=1.5}`.
func (s *Statistics) AppendText(b []byte) []byte {
	b = strconv.AppendInt(append(b, "{visualizing_index="...), s.VisualizingIndex, 10)
	for _, e := range s.Entries {
		b = append(append(append(b, ','), e.Name...), '=')
		b = appendShortFloat(b, e.Value, 64)
	}
	return append(b, '}')
}

// AppendText appends `{mode=highest}` or `{tolerance={atol=1,rtol=0.5,ulps=2}}`.
func (a *ResultAccuracy) AppendText(b []byte) []byte {
	if a.Highest {
		return append(b, "{mode=highest}"...)
	}
	b = appendShortFloat(append(b, "{tolerance={atol="...), a.ATol, 64)
	b = appendShortFloat(append(b, ",rtol="...), a.RTol, 64)
	b = strconv.AppendInt(append(b, ",ulps="...), a.ULPs, 10)
	return append(b, "}}"...)
}

// AppendText appends `{({"a"}, {"pair" {1}})}`.
func (o *Origin) AppendText(b []byte) []byte {
	b = append(b, '{')
	if o.SyntheticCall {
		b = append(b, "[synthetic_call]"...)
	} else if o.Tree != nil {
		b = o.Tree.AppendText(b)
	}
	return append(b, '}')
}

// AppendText appends `{"pair" {1}}`, or the nodes of a tuple in parentheses.
func (n *OriginNode) AppendText(b []byte) []byte {
	if n.IsTuple {
		b = append(b, '(')
		for i, e := range n.Elements {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = e.AppendText(b)
		}
		b = append(b, ')')
	} else {
		b = append(b, '{')
		if n.HasName {
			b = appendVerbatim(b, n.Name)
			if len(n.Index) > 0 {
				b = n.Index.AppendText(append(b, ' '))
			}
		}
		b = append(b, '}')
	}
	if len(n.Calls) > 0 {
		b = append(b, ",["...)
		for i, c := range n.Calls {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = AppendQuoted(b, c)
		}
		b = append(b, ']')
	}
	return b
}

// AppendText appends `{log_mode=default,callback_id=5}`.
func (e *DebugEntry) AppendText(b []byte) []byte {
	b = append(b, '{')
	start := len(b)
	key := func(name string) {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(append(b, name...), '=')
	}
	num := func(name string, v OptInt) {
		if v.Value != 0 {
			key(name)
			b = strconv.AppendInt(b, v.Value, 10)
		}
	}
	if e.LogMode != DebugLogUnset {
		key("log_mode")
		b = append(b, e.LogMode.String()...)
	}
	num("callback_id", e.CallbackID)
	if e.Partitioned {
		key("partitioned")
		b = append(b, "true"...)
	}
	num("op_id", e.OpID)
	if len(b) == start { // empty braces cannot be read: write a zero that was given, or one that means nothing
		if e.CallbackID.Set {
			b = append(b, "callback_id=0"...)
		} else {
			b = append(b, "op_id=0"...)
		}
	}
	return append(b, '}')
}

// AppendText appends `{0}: (1, {}, may-alias)`.
func (a *Alias) AppendText(b []byte) []byte {
	b = append(a.Output.AppendText(b), ": ("...)
	b = append(strconv.AppendInt(b, a.Parameter, 10), ", "...)
	b = a.ParameterIndex.AppendText(b)
	if a.Must {
		return append(b, ", must-alias)"...)
	}
	return append(b, ", may-alias)"...)
}

// AppendText appends `(1, {0})`.
func (d *BufferDonor) AppendText(b []byte) []byte {
	b = append(strconv.AppendInt(append(b, '('), d.Parameter, 10), ", "...)
	return append(d.Index.AppendText(b), ')')
}
