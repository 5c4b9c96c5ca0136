"""Askari, Safavi-Naini, Barker, CODASPY 2012: a sanitizer as a channel."""
