"""Reading text: which language it is in, its keyword terms, and the names it mentions.

Everything runs in this process and without a network. Importing the package is cheap; the models behind it load on
first use or through `nlp.models.preload`, which a worker calls before it forks.
"""
