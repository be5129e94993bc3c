"""References to a symbol, and the words of the text that every answer is compared with."""
