"""LayerNorm and RMSNorm as PyTorch, ONNX Runtime and JAX compute them: the time that RMSNorm saves inside each
framework, and whether its numbers are right.

    python -m normlab.frameworks             # the time that RMSNorm saves
    python -m normlab.frameworks --judge     # judge the frameworks' results on the museum's data and special values
    python -m normlab.frameworks --rounding  # where frameworks, transformers and Flax round in 16 bits
    python -m normlab.frameworks --step      # a training step of a small transformer, in PyTorch
    python -m normlab.frameworks --invariance --threads 2   # has a row the same bits in every batch?

A framework that is not installed is named and skipped. Each framework runs in its own process.
"""
