"""Convert stored values into what pages show. Pure functions without a request, a store or a clock."""
