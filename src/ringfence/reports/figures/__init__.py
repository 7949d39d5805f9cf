"""Figure data: what every picture shows, as plain rows. Pure; charts draw them."""
