"""Types of arrays."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating]
Ints: TypeAlias = NDArray[np.integer]
Bools: TypeAlias = NDArray[np.bool_]
