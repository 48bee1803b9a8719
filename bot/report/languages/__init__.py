"""The languages of comments: catalogues of sentences, their translation, and the language of an issue."""
