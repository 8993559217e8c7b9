"""Rows on a Dask cluster: the verdict, the perceptron and the pocket for data of any size.

`rows` opens a folder of Parquet files, or Dask arrays and data frames. The result is passed instead
of X and y: ``nv.separate(rows)``, ``nv.verify(certificate, rows)``, ``nv.Perceptron().fit(rows)``,
``nv.Pocket().fit(rows)``. The verdict is the same as in memory; only its passes over the rows run
on the workers. Dask is imported when it is first needed.
"""

from novikoff.cluster.rows import ClusterRows, rows
from novikoff.errors import ClusterError

__all__ = ["ClusterError", "ClusterRows", "rows"]
