package schedule

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{TrivialScheduler},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"hlo-memory-scheduler":     NewMemoryScheduler,
		"latency-hiding-scheduler": NewLatencyHiding,
		"scheduler-memory-fencing": NewMemoryFencing,
	},
	Aliases: map[string]string{
		"memory-scheduler":  "hlo-memory-scheduler",
		"trivial-scheduler": "hlo-trivial-scheduler",
	},
}
