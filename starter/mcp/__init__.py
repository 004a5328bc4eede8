"""The MCP server: an agent's memory and jobs as tools and resources of the Model Context Protocol."""
