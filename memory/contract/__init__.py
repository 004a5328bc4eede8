"""Memory contracts: the document that says what memory an agent has, its checks, variables, owners and versions."""
