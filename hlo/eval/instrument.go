package eval

import (
	"fmt"
	"time"

	"github.com/gohalo/halo/hlo"
)

func init() {
	customCalls[hlo.TargetSleep] = instrument
	customCalls[hlo.TargetSpin] = instrument
}

// instrument hands its operand on after the time that its backend configuration gives.
func instrument(c *Call) (*hlo.Literal, error) {
	v, err := argument(c)
	if err != nil {
		return nil, err
	}
	d, ok := hlo.Instrument(c.In)
	if !ok {
		return nil, instrumentError(c.In)
	}
	if !v.Shape().Compatible(c.In.Shape()) {
		return nil, fmt.Errorf("%s of %v gives %v: its result is its operand", hlo.AttrsOf[hlo.CustomCallAttrs](c.In).Target, v.Shape(), c.In.Shape())
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.e.ctx.Done():
		return nil, c.e.ctx.Err()
	}
	return v, nil
}

// instrumentError says what is wrong with the backend configuration of a test instrument.
func instrumentError(in hlo.Instruction) error {
	got := ""
	if c := in.Common(); c != nil {
		got = c.BackendConfig
	}
	return fmt.Errorf(`%s: got backend_config=%q, want the microseconds that it takes, as in backend_config="2000"`, hlo.AttrsOf[hlo.CustomCallAttrs](in).Target, got)
}
