"""Reusable views: values up, arrays down. They know nothing of the book."""
