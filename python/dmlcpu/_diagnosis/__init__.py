"""What is going on, for people.

This file imports nothing: `_failure` is loaded where the extension module cannot be.
"""
