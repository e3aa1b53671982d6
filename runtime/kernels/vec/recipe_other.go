//go:build !amd64

package vec

var recipeConstants [0][2]uint64

func recipes(Level) map[Name]*Recipe { return nil }
