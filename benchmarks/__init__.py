"""What is measured and compared in a clone; no part of what is installed."""
