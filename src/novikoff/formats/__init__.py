"""Output files: models, certificates and ONNX; each is written completely or not at all."""
