package halocmd

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/gohalo/halo"
)

// grid is the devices that run a program: replicas of partitions.
type grid struct{ replicas, partitions int }

func (g grid) devices() int { return g.replicas * g.partitions }

// deviceFlags say how many devices run.
type deviceFlags struct {
	Replicas   int `help:"Number of replicas. Default: the module's replica_count if the program has collectives, else 1." placeholder:"R"`
	Partitions int `help:"Number of partitions of each replica. Default as of --replicas." placeholder:"P"`
}

func (f *deviceFlags) check() error {
	switch {
	case f.Replicas < 0 || f.Partitions < 0:
		return errors.New("--replicas, --partitions: want positive numbers")
	case max(f.Replicas, 1) > maxDevices/max(f.Partitions, 1):
		return fmt.Errorf("--replicas, --partitions: at most %d devices", maxDevices)
	}
	return nil
}

// maxDevices bounds what a header may ask for.
const maxDevices = 1 << 12

// gridOf is the devices that run a program: those of the flags, else those that it was made for.
func (f *deviceFlags) gridOf(p *halo.Program) grid {
	g := grid{f.Replicas, f.Partitions}
	s := p.Signature()
	replicas, partitions := s.Replicas, s.Partitions
	if replicas > maxDevices/partitions {
		replicas, partitions = 1, 1
	}
	if g.replicas == 0 {
		g.replicas = replicas
	}
	if g.partitions == 0 {
		g.partitions = partitions
	}
	return g
}

// key is how files call leaf i of device d: i, or dD/i when there are several devices.
func (g grid) key(d, i int) string {
	if g.devices() == 1 {
		return strconv.Itoa(i)
	}
	return fmt.Sprintf("d%d/%d", d, i)
}

// where is a prefix for messages about a device.
func (g grid) where(d int) string {
	if g.devices() == 1 {
		return ""
	}
	return fmt.Sprintf("device %d: ", d)
}
