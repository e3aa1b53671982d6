package hlo

// TargetAllocateBuffer is the custom call by which XLA's passes make storage: an array whose contents do not matter until something writes them.
const TargetAllocateBuffer = "AllocateBuffer"
