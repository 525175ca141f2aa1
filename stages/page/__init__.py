"""The stages that make the headline and the page."""
