"""The embedding cache on disk: texts are not encoded again by the same model."""
