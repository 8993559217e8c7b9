"""More rows than one machine: the verdict, the perceptron and the pocket on Dask (F2).

`rows` makes a folder of Parquet files, or collections of Dask, stand in the place of X:
``nv.separate(rows)``, ``nv.verify(certificate, rows)``, ``nv.Perceptron().fit(rows)``,
``nv.Pocket().fit(rows)``. The verdict is the one of memory; only its passes over the rows run on
workers. Dask is imported when it is first needed.
"""

from novikoff.cluster.rows import ClusterRows, rows
from novikoff.errors import ClusterError

__all__ = ["ClusterError", "ClusterRows", "rows"]
