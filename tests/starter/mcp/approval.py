"""A plan that waits for an answer, as clients of MCP start it."""

PLAN = """
name: approval
nodes:
  - id: approval
    kind: wait
    key: approval
    ask: Order for 1900 EUR?
    timeout: 21d
    on: {approved: end, rejected: end, timeout: end}
    form: {type: object, properties: {by: {type: string}}, required: [by]}
"""
