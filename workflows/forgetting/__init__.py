"""`ForgetTopic`: removes a topic, table by table."""
