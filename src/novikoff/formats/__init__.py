"""Files that are written: models, certificates, ONNX; and how they are written whole."""
