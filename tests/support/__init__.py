"""What several tests share: tables, frames of results, plain second implementations, browsers and kernels."""
