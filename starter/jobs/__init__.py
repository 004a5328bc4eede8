"""What clients do with jobs: start, find, resume, steer, fork and explain them."""
