package schedule

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"latency-hiding-scheduler": NewLatencyHiding,
		"scheduler-memory-fencing": NewMemoryFencing,
	},
}
