"""Data from files: tables, matrices and svmlight, read into arrays or refused in a sentence."""

from novikoff.data.choices import Choices, Dataset
from novikoff.data.errors import DataError
from novikoff.data.readers import read
from novikoff.data.recipe import Recipe
from novikoff.data.svmlight import Svmlight, read_svmlight

__all__ = ["Choices", "DataError", "Dataset", "Recipe", "Svmlight", "read", "read_svmlight"]
