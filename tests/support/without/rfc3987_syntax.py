"""The place of a library that jsonschema, and with it altair and nbformat, loads for a second and a half. It checks a
format of addresses, which no schema here has: they do without it.
"""

raise ImportError("the tests do without rfc3987_syntax")
