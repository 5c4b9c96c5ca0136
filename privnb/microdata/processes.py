"""What the environment says in each process that computes, be it a kernel or a worker."""

# One thread: sums of floats come out the same for any number of jobs, and jobs do not fight for cores.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ENVIRONMENT = {**dict.fromkeys(THREADS, "1"), "PYTHONHASHSEED": "0"}
