"""Register the App: the manifest sent to GitHub, and the storage of the returned secrets."""
