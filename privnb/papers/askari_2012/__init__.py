"""Askari, Safavi-Naini, Barker, CODASPY 2012: sanitizers as channels."""
