"""The activities that remove a topic, table by table."""
