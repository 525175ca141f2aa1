"""VSE++, CLIP and BLIP behind one interface (decorrelation.md §4)."""
