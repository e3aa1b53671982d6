package vec

// recipes are those of a level.
func recipes(l Level) []Recipe {
	switch l {
	case AVX512:
		return avx512Recipes
	case AVX2:
		return avx2Recipes
	}
	return nil
}
