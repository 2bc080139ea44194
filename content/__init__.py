"""The book: what each section teaches, as pure NumPy and prose. Imports no GUI."""
