"""The margin, the verdict and its proof."""
