"""The embedding cache on disk: a text that a model has encoded is not encoded again."""
