"""k-nearest neighbours: neighbours are searched once for every split and every k."""
