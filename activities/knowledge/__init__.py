"""The activities that turn messages into entries and facts."""
