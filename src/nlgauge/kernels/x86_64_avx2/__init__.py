"""Extensions for x86-64 processors with AVX2, compiled from the sources in the parent folder."""
