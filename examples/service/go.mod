module example.com/service

go 1.26.0

require github.com/gohalo/halo v0.0.0

require (
	github.com/alecthomas/participle/v2 v2.1.4 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.16.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/gohalo/halo => ../..
