"""What leaves: releases of files and frames of any length, and the gate that decides whether they may."""
