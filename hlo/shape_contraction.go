package hlo

// Shape rules of contractions (shape-inference section 5).

func dotShape(c *ShapeContext) (Shape, error) {
	dims, err := c.dotDims(attrsAs[DotAttrs](c), c.Operands[0], c.Operands[1])
	if err != nil {
		return Shape{}, err
	}
	return c.contracted(c.Operands[0], c.Operands[1], dims)
}

// contracted gives dims the stated element type, which may be any, or the wider of the operands'.
func (c *ShapeContext) contracted(lhs, rhs Shape, dims []dim) (Shape, error) {
	if c.Stated.IsArray() {
		return makeDims(c.Stated.Type(), dims), nil
	}
	t, err := c.higher("GEN-09", lhs.Type(), rhs.Type())
	if err != nil {
		return Shape{}, err
	}
	return makeDims(t, dims), nil
}

// dotDims checks dimension numbers and gives batch, lhs free and rhs free dimensions.
func (c *ShapeContext) dotDims(a *DotAttrs, lhs, rhs Shape) ([]dim, error) {
	if !lhs.IsArray() || !rhs.IsArray() {
		return nil, c.errorf("GEN-09", "Expected array argument for dot, got %v and %v", lhs, rhs)
	}
	useL, err := c.dotRoles(lhs, a.LHSContracting, a.LHSBatch)
	if err != nil {
		return nil, err
	}
	useR, err := c.dotRoles(rhs, a.RHSContracting, a.RHSBatch)
	if err != nil {
		return nil, err
	}
	if !sameSizes(lhs, a.LHSContracting, rhs, a.RHSContracting) {
		return nil, c.errorf(c.dotRule("DOT-03"), "Contracting dimension sizes are not compatible: {%s} of %v and {%s} of %v",
			intsText(a.LHSContracting), lhs, intsText(a.RHSContracting), rhs)
	}
	if !sameSizes(lhs, a.LHSBatch, rhs, a.RHSBatch) {
		return nil, c.errorf(c.dotRule("DOT-03"), "Batch dimension sizes are not compatible: {%s} of %v and {%s} of %v",
			intsText(a.LHSBatch), lhs, intsText(a.RHSBatch), rhs)
	}
	dims := make([]dim, 0, lhs.Rank()+rhs.Rank())
	for _, axis := range a.LHSBatch {
		dims = append(dims, dimOf(lhs, int(axis)))
	}
	for i, used := range useL {
		if !used {
			dims = append(dims, dimOf(lhs, i))
		}
	}
	for i, used := range useR {
		if !used {
			dims = append(dims, dimOf(rhs, i))
		}
	}
	return dims, nil
}

// dotRoles marks the axes of one operand that are contracted or batch axes.
func (c *ShapeContext) dotRoles(s Shape, contracting, batch []int64) ([]bool, error) {
	used := make([]bool, s.Rank())
	for _, list := range [][]int64{contracting, batch} {
		for _, axis := range list {
			if !inRange(axis, s.Rank()) {
				return nil, c.errorf(c.dotRule("DOT-01"), "A dimension number is out of range in Dot: %d of %v", axis, s)
			}
			if used[axis] {
				return nil, c.errorf(c.dotRule("DOT-02"), "A dimension number is not unique in Dot: %d of %v", axis, s)
			}
			used[axis] = true
		}
	}
	return used, nil
}

// dotRule is the rule that a mistake in dimension numbers breaks.
func (c *ShapeContext) dotRule(rule string) string {
	if c.Op == OpScaledDot {
		return "SDOT-06"
	}
	return rule
}

func sameSizes(a Shape, axesA []int64, b Shape, axesB []int64) bool {
	if len(axesA) != len(axesB) {
		return false
	}
	for i := range axesA {
		if !sizesAgree(a.Dim(int(axesA[i])), b.Dim(int(axesB[i]))) {
			return false
		}
	}
	return true
}

func raggedDotShape(c *ShapeContext) (Shape, error) {
	a := attrsAs[RaggedDotAttrs](c)
	lhs, rhs, groups := c.Operands[0], c.Operands[1], c.Operands[2]
	dot := &DotAttrs{LHSBatch: a.LHSBatch, LHSContracting: a.LHSContracting, RHSBatch: a.RHSBatch, RHSContracting: a.RHSContracting}
	dims, err := c.dotDims(dot, lhs, rhs)
	if err != nil {
		return Shape{}, err
	}
	if len(a.LHSRagged) != 1 {
		return Shape{}, c.attr("lhs_ragged_dims", "RDOT-01", "There must be exactly one ragged dimension in the lhs, got {%s}", intsText(a.LHSRagged))
	}
	ragged := a.LHSRagged[0]
	if !inRange(ragged, lhs.Rank()) {
		return Shape{}, c.attr("lhs_ragged_dims", "RDOT-01", "A ragged dimension number is out of range: %d of %v", ragged, lhs)
	}
	if !groups.IsArray() || groups.Rank() == 0 {
		return Shape{}, c.operand(2, "RDOT-03", "expected group_sizes to have rank of at least 1, got %v", groups)
	}
	if c.Defined && !groups.Type().IsInteger() {
		return Shape{}, c.undefined(2)
	}
	for _, g := range a.RHSGroup {
		if !inRange(g, rhs.Rank()) {
			return Shape{}, c.attr("rhs_group_dims", "RDOT-02", "An rhs group dimension number is out of range: %d of %v", g, rhs)
		}
		if indexOf(a.RHSBatch, g) >= 0 || indexOf(a.RHSContracting, g) >= 0 {
			return Shape{}, c.attr("rhs_group_dims", "RDOT-02", "An rhs group dimension cannot be a batch or contracting dimension: %d", g)
		}
	}
	count := groups.Dim(groups.Rank() - 1)
	nBatch := len(a.LHSBatch)
	freeL := freeAxes(lhs.Rank(), a.LHSBatch, a.LHSContracting)
	var prefix []int64 // axes of lhs that group_sizes may be given for
	if k := indexOf(a.LHSBatch, ragged); k >= 0 {
		prefix = a.LHSBatch[:k]
	} else {
		prefix = append(prefix, a.LHSBatch...)
		if k := indexOf(a.LHSContracting, ragged); k >= 0 {
			prefix = append(prefix, a.LHSContracting[:k]...)
		} else {
			prefix = append(prefix, freeL[:indexOf(freeL, ragged)]...)
		}
	}
	if err := c.groupSizes(groups, lhs, prefix); err != nil {
		return Shape{}, err
	}
	free := indexOf(freeL, ragged) >= 0
	switch {
	case free && len(a.RHSGroup) != 1:
		return Shape{}, c.attr("rhs_group_dims", "RDOT-02", "There must be exactly one group dimension in the rhs, got {%s}", intsText(a.RHSGroup))
	case !free && len(a.RHSGroup) != 0:
		return Shape{}, c.attr("rhs_group_dims", "RDOT-02", "There must be zero group dimensions in the rhs, got {%s}", intsText(a.RHSGroup))
	case free:
		g := a.RHSGroup[0]
		if !sizesAgree(rhs.Dim(int(g)), count) {
			return Shape{}, c.attr("rhs_group_dims", "RDOT-02", "rhs group dimension is expected to have size %d, got %v", count, rhs)
		}
		at := nBatch + len(freeL) + indexOf(freeAxes(rhs.Rank(), a.RHSBatch, a.RHSContracting), g)
		dims = append(dims[:at:at], dims[at+1:]...)
	case indexOf(a.LHSContracting, ragged) >= 0:
		dims = append([]dim{dimOf(groups, groups.Rank()-1)}, dims...)
	}
	return c.contracted(lhs, rhs, dims)
}

// groupSizes checks group_sizes: one list of sizes for all, or one for each index along the prefix axes of lhs.
func (c *ShapeContext) groupSizes(groups, lhs Shape, prefix []int64) error {
	if groups.Rank() == 1 {
		return nil
	}
	if groups.Rank() != len(prefix)+1 {
		return c.operand(2, "RDOT-03", "expected group_sizes to have rank %d or 1, got %v", len(prefix)+1, groups)
	}
	for i, axis := range prefix {
		if !sizesAgree(groups.Dim(i), lhs.Dim(int(axis))) {
			return c.operand(2, "RDOT-03", "group_sizes is expected to have shape prefix {%s} of %v, got %v", intsText(prefix), lhs, groups)
		}
	}
	return nil
}

func indexOf(list []int64, v int64) int {
	for i, x := range list {
		if x == v {
			return i
		}
	}
	return -1
}

// freeAxes are the axes below rank that are in neither list.
func freeAxes(rank int, a, b []int64) []int64 {
	free := make([]int64, 0, rank)
	for i := range int64(rank) {
		if indexOf(a, i) < 0 && indexOf(b, i) < 0 {
			free = append(free, i)
		}
	}
	return free
}

func scaledDotShape(c *ShapeContext) (Shape, error) {
	a := attrsAs[DotAttrs](c)
	dims, err := c.dotDims(a, c.Operands[0], c.Operands[1])
	if err != nil {
		return Shape{}, err
	}
	for i, s := range c.Operands[2:] {
		if !s.IsArray() {
			return Shape{}, c.operand(i+2, "SDOT-02", "Expected array argument for the scale of operand %d, got %v", i, s)
		}
	}
	if c.Operands[2].Rank() == 0 && c.Operands[3].Rank() == 0 {
		return Shape{}, c.errorf("SDOT-05", "At least one of the scales should be not a scalar")
	}
	for i, contracting := range [][]int64{a.LHSContracting, a.RHSContracting} {
		if err := c.scale(i, contracting); err != nil {
			return Shape{}, err
		}
	}
	return c.contracted(c.Operands[0], c.Operands[1], dims)
}

// scale checks the scale of operand i, unless it is a stand-in for none: bf16 of ones beside a bf16 operand.
func (c *ShapeContext) scale(i int, contracting []int64) error {
	x, s := c.Operands[i], c.Operands[i+2]
	if x.Type() == BF16 && s.Type() == BF16 && allOnes(s) && !allOnes(x) {
		return nil
	}
	if s.Rank() != x.Rank() {
		return c.operand(i+2, "SDOT-02", "Scale %v has a different number of dimensions than operand %v", s, x)
	}
	if len(contracting) != 1 {
		return c.operand(i, "SDOT-03", "Contracting dimensions must have exactly one dimension, got {%s}", intsText(contracting))
	}
	for k := range x.Rank() {
		n, m := x.Dim(k), s.Dim(k)
		if n == UnboundedSize || m == UnboundedSize {
			continue
		}
		if m == 0 && n != 0 || m != 0 && n%m != 0 {
			return c.operand(i+2, "SDOT-04", "Dimension %d of operand %v should be a multiple of dimension %d of its scale %v", k, x, k, s)
		}
	}
	return nil
}

func allOnes(s Shape) bool {
	for _, n := range s.d.dims {
		if n != 1 {
			return false
		}
	}
	return true
}

// AxesWithout numbers axes as they are when others have gone; those that have gone themselves are left out.
func AxesWithout(axes, gone []int64) (kept []int64) {
	for _, a := range axes {
		if indexOf(gone, a) >= 0 {
			continue
		}
		n := a
		for _, g := range gone {
			if g < a {
				n--
			}
		}
		kept = append(kept, n)
	}
	return kept
}
