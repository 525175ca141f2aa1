"""Things that have no face: each kind's traits, drawing and caption."""
