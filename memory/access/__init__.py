"""Who may use memory over a network: API keys, what they allow, and the audit log that says what was done."""
