package runtime

// customCallPrefix keeps the targets of custom-calls apart from other kernel names.
const customCallPrefix = "custom-call."

// CustomCall registers the kernel that custom-calls of tensor programs with that target run. The binder sees a [Binding] whose name
// is the target, whose inputs and outputs are the array leaves of operands and result in order, and whose only attribute is the text of
// the call's backend configuration, empty if it has none. Such a kernel takes precedence over what the library itself knows by that
// target.
func (r *Registry) CustomCall(target string, bind TensorBinder) {
	r.Tensor(customCallPrefix+target, bind)
}

// BindCustomCall chooses the implementation of a custom-call. It reports false if the target is not registered. b is the use of the
// kernel that stands for the call, config its backend configuration.
func (r *Registry) BindCustomCall(target, config string, b *Binding) (bound Bound, known bool, err error) {
	e := r.lookup(customCallPrefix + target)
	if e == nil {
		return Bound{}, false, nil
	}
	use, err := NewBinding(target, config, b.In, b.Out)
	if err != nil {
		return Bound{}, true, err
	}
	use.Location, use.inSlots, use.outSlots, use.consts = b.Location, b.inSlots, b.outSlots, b.consts
	bound, err = callBinder(e.tensor, use)
	return bound, true, err
}
