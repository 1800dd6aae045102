"""The neutral data model and the seeded generator of the e-commerce data."""
