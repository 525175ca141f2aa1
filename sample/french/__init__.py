"""The sample's French: a small grammar whose texts, questions, syntax and frames come from the same trees."""
