"""Language models, reached by name; each loads its SDK only when asked for."""
