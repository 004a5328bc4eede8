"""Jobs from outside: started, found, resumed, steered, forked and explained."""
