package printer

import _ "github.com/gohalo/halo/runtime/async" // want `the wings meet`
