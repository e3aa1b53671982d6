package bef

// Check verifies what an executor relies on: every index is in range, every
// register is written once, use counts and used-by lists agree with operands,
// every kernel is reached from the function's start, and synchronous functions
// can be run in order. Encode calls it, and what Decode returns has passed and
// is not checked again: to change a decoded File, change a copy
// of the struct. Errors are [*FormatError].
func Check(f *File) error {
	if f.checked == f {
		return nil
	}
	c := checker{f: f}
	names := make(map[string]bool, len(f.Functions))
	for i := range f.Functions {
		fn := &f.Functions[i]
		if fn.Name != "" && names[fn.Name] {
			return fail(FunctionIndexSection, uint64(i), "two functions are named %q", fn.Name)
		}
		names[fn.Name] = true
		if err := c.signature(i, fn); err != nil {
			return err
		}
		if fn.Kind == Native {
			continue
		}
		if _, err := c.function(i, fn); err != nil {
			return err
		}
	}
	return nil
}

// checker holds the scratch space that functions share.
type checker struct {
	f       *File
	writer  []int32  // per register: kernel that writes it, -1 for arguments, -2 for none
	slot    []int32  // per register: which result of that kernel it is
	start   []uint32 // per register: start of its mentions; one more at the end
	mention []KernelIndex
	count   []int32 // per kernel
	work    []KernelIndex
}

const noWriter, isArgument = -2, -1

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}

func (c *checker) signature(id int, fn *Function) *FormatError {
	if fn.Kind > Sync {
		return fail(FunctionIndexSection, uint64(fn.Kind), "function %d has unknown kind %d", id, fn.Kind)
	}
	for _, list := range [][]TypeID{fn.Args, fn.Results} {
		for _, t := range list {
			if int(t) >= len(c.f.Types) {
				return fail(FunctionIndexSection, uint64(t), "function %d: type %d of %d", id, t, len(c.f.Types))
			}
		}
	}
	return nil
}

// function checks a body. With an error it returns the kernel at fault, or -1.
func (c *checker) function(id int, fn *Function) (int, *FormatError) {
	bad := func(k int, value uint64, format string, args ...any) (int, *FormatError) {
		e := fail(FunctionsSection, value, format, args...)
		where := "function " + quoteName(id, fn.Name)
		if k >= 0 {
			where += ", kernel " + utoa(k+1)
		}
		e.Msg = where + ": " + e.Msg
		return k, e
	}
	nregs, nkernels := len(fn.Registers), len(fn.Kernels)
	if nregs < len(fn.Args) || len(fn.ArgUsers) != len(fn.Args) {
		return bad(-1, uint64(nregs), "%d registers for %d arguments", nregs, len(fn.Args))
	}
	if len(fn.ResultRegs) != len(fn.Results) {
		return bad(-1, uint64(len(fn.ResultRegs)), "%d result registers for %d results", len(fn.ResultRegs), len(fn.Results))
	}

	// Every index is in range, every register is written once.
	c.writer = grow(c.writer, nregs)
	c.slot = grow(c.slot, nregs)
	c.start = grow(c.start, nregs+1)
	for r := range c.writer {
		c.writer[r] = noWriter
	}
	clear(c.start)
	for r := range fn.Args {
		c.writer[r] = isArgument
	}
	zero, mentions := 0, 0
	for i := range fn.Kernels {
		k := &fn.Kernels[i]
		if int(k.Code) >= len(c.f.Kernels) {
			return bad(i, uint64(k.Code), "kernel code %d of %d", k.Code, len(c.f.Kernels))
		}
		if len(k.Users) != len(k.Results) {
			return bad(i, uint64(len(k.Users)), "%d used-by lists for %d results", len(k.Users), len(k.Results))
		}
		for _, r := range k.Args {
			if int(r) >= nregs {
				return bad(i, uint64(r), "argument register %d of %d", r, nregs)
			}
			c.start[r+1]++
		}
		for _, a := range k.Attrs {
			if uint64(a.Offset) >= uint64(len(c.f.Attrs.Data)) {
				return bad(i, uint64(a.Offset), "attribute offset %d outside of the pool", a.Offset)
			}
		}
		for _, fid := range k.Funcs {
			if int(fid) >= len(c.f.Functions) {
				return bad(i, uint64(fid), "function id %d of %d", fid, len(c.f.Functions))
			}
		}
		for j, r := range k.Results {
			if int(r) >= nregs {
				return bad(i, uint64(r), "result register %d of %d", r, nregs)
			}
			if c.writer[r] != noWriter {
				return bad(i, uint64(r), "register %d is written twice", r)
			}
			c.writer[r], c.slot[r] = int32(i), int32(j)
		}
		if len(k.Args) == 0 {
			zero++
		}
		mentions += len(k.Args)
	}
	for r, w := range c.writer {
		if w == noWriter {
			return bad(-1, uint64(r), "register %d is never written", r)
		}
	}

	if c.f.Typed {
		for r, reg := range fn.Registers {
			if int(reg.Type) >= len(c.f.Types) {
				return bad(-1, uint64(reg.Type), "register %d has type %d of %d", r, reg.Type, len(c.f.Types))
			}
		}
	}

	// Who reads what, in program order, and whether operands come first.
	for r := range nregs {
		c.start[r+1] += c.start[r]
	}
	c.mention = grow(c.mention, mentions)
	fill := grow(c.count, nregs)
	c.count = fill
	clear(fill)
	ordered := true
	for i := range fn.Kernels {
		for _, r := range fn.Kernels[i].Args {
			c.mention[int(c.start[r])+int(fill[r])] = KernelIndex(i)
			fill[r]++
			ordered = ordered && int(c.writer[r]) < i
		}
	}
	for r := range nregs {
		var users []KernelIndex
		k := int(c.writer[r])
		if k == isArgument {
			users = fn.ArgUsers[r]
		} else {
			users = fn.Kernels[k].Users[c.slot[r]]
		}
		if !c.sameUsers(users, c.mention[c.start[r]:c.start[r+1]], nkernels) {
			return bad(k, uint64(r), "users of register %d are not the kernels that read it", r)
		}
	}

	// Use counts.
	clear(fill)
	for _, r := range fn.ResultRegs {
		if int(r) >= nregs {
			return bad(-1, uint64(r), "returned register %d of %d", r, nregs)
		}
		fill[r]++
		if fn.Kind == Sync && int(r) < len(fn.Args) {
			return bad(-1, uint64(r), "Invalid SyncBEFFunction (argument %d is returned)", r)
		}
		if fn.Kind == Sync && fill[r] > 1 {
			return bad(-1, uint64(r), "Invalid SyncBEFFunction (register %d is returned twice)", r)
		}
	}
	for r := range nregs {
		if want := c.start[r+1] - c.start[r] + uint32(fill[r]); fn.Registers[r].Uses != want {
			return bad(-1, uint64(fn.Registers[r].Uses), "register %d has %d uses, the file says %d", r, want, fn.Registers[r].Uses)
		}
	}

	// The trigger starts each kernel without operands once.
	c.count = grow(c.count, nkernels)
	clear(c.count)
	if len(fn.TriggerUsers) != zero {
		return bad(-1, uint64(len(fn.TriggerUsers)), "%d kernels have no operands, %d are triggered", zero, len(fn.TriggerUsers))
	}
	for _, k := range fn.TriggerUsers {
		if int(k) >= nkernels || len(fn.Kernels[k].Args) != 0 || c.count[k] != 0 {
			return bad(-1, uint64(k), "kernel %d is triggered wrongly", uint64(k)+1)
		}
		c.count[k] = 1
	}

	if fn.Kind == Sync && !ordered {
		return bad(-1, 0, "Invalid SyncBEFFunction (a kernel stands before one it depends on)")
	}
	if !ordered {
		if n := c.reached(fn); n != nkernels {
			return bad(-1, uint64(n), "only %d of %d kernels can ever run", n, nkernels)
		}
	}
	return 0, nil
}

// sameUsers compares as multisets; read is in program order.
func (c *checker) sameUsers(users, read []KernelIndex, nkernels int) bool {
	if len(users) != len(read) {
		return false
	}
	canonical := true
	for i, u := range users {
		if int(u) >= nkernels {
			return false
		}
		canonical = canonical && u == read[len(read)-1-i]
	}
	if canonical {
		return true
	}
	// Sort-free: c.work is free here and as long as there are kernels.
	c.work = grow(c.work, nkernels)
	for _, u := range read {
		c.work[u] = 0
	}
	for _, u := range read {
		c.work[u]++
	}
	for _, u := range users {
		c.work[u]--
	}
	for _, u := range read {
		if c.work[u] != 0 {
			return false
		}
	}
	return true
}

// reached counts the kernels that become ready, by Kahn's algorithm.
func (c *checker) reached(fn *Function) int {
	missing := grow(c.count, len(fn.Kernels))
	for i := range fn.Kernels {
		missing[i] = int32(len(fn.Kernels[i].Args))
	}
	queue := append(c.work[:0], fn.TriggerUsers...)
	tell := func(users []KernelIndex) {
		for _, u := range users {
			if missing[u]--; missing[u] == 0 {
				queue = append(queue, u)
			}
		}
	}
	for _, users := range fn.ArgUsers {
		tell(users)
	}
	n := 0
	for ; n < len(queue); n++ {
		for _, users := range fn.Kernels[queue[n]].Users {
			tell(users)
		}
	}
	c.work = queue
	return n
}
