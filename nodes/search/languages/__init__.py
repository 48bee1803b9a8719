"""The languages that can be outlined: those with a grammar in ``languages.toml``, the others in ``forms.toml``."""
