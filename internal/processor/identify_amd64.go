package processor

// identify returns registers EAX and EBX of a function of CPUID.
func identify(function uint32) (eax, ebx uint32)
