"""Providers of language models; each loads its SDK only when asked for."""
