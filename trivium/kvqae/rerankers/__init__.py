"""Re-ranking by text (cross-encoder) and by images (RRT, ArcFace), and how re-rankers are fused."""
