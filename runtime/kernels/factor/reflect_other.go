//go:build !amd64

package factor

func bestReflect() reflectLoop { return portableReflect }
