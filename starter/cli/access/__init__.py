"""Commands about access over a network."""
