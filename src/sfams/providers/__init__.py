"""Models behind the ports: each module turns one engine into a port and knows no other adapter."""
