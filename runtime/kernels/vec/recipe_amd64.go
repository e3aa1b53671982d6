package vec

import "sync"

var (
	recipesAVX512 = sync.OnceValue(func() map[Name]*Recipe { return recipesByName(avx512Recipes) })
	recipesAVX2   = sync.OnceValue(func() map[Name]*Recipe { return recipesByName(avx2Recipes) })
)

// recipes are those of a level.
func recipes(l Level) map[Name]*Recipe {
	switch l {
	case AVX512:
		return recipesAVX512()
	case AVX2:
		return recipesAVX2()
	}
	return nil
}
