package hlo

import _ "github.com/gohalo/halo/printer" // want `hlo imports printer: imports go down, never sideways or up`
