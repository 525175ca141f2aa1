"""Short names that the pages use, in words: a list behind a link, and a tip wherever a table's head bears one."""

GLOSSARY = {
    "B": "BM25: a passage counts by the question's words that it holds, rare ones more.",
    "D": "DPR: question and passage as vectors of a network that was trained on TriviaQA, zero-shot.",
    "D_f": "DPR that was also trained on ViQuAE's training questions, few-shot.",
    "A": "ArcFace: the face in the picture as a vector.",
    "F·A": "ArcFace where a face is found, nothing elsewhere.",
    "I": "ImageNet: the picture as a vector of a network that was trained to tell a thousand kinds of things.",
    "C": "CLIP: the picture as a vector of a network that was trained on pictures and their captions.",
    "MRR": "Mean reciprocal rank: 1 where the first result is right, 1/2 where the second is the first right one, …",
    "P@k": "Precision at k: the share of right ones among the first k results.",
    "Hits@k": "The share of questions with a right one among the first k results.",
    "EM": "Exact match: the answer is one of the accepted ones, but for case, articles and punctuation.",
    "F1": "The overlap of the answer's words with those of the best accepted answer.",
    "semi-oracle": "The reader is given a relevant passage among those retrieved, where there is one.",
    "full oracle": "The reader is given relevant passages alone.",
    "ODmAP@k": (
        "How often, among the first k captions of a picture from which something was painted out, one is about what is "
        "still there and not about what is gone, averaged over precision at each right place."
    ),
    "R@k": "Recall at k: the share of pictures (or captions) for which one of their own is among the first k.",
    "D′": "Pictures from which an object was painted out, with captions that no longer name it.",
    "δ": "Points of the mean score that questions with a factor have more than those without; below 0 they are harder.",
    "ROUGE-L": "The longest common row of words of answer and reference, as precision and recall together.",
    "κ": "Cohen's kappa: how far two judges agree beyond what chance alone would give, 1 at most.",
    "Holm": "A correction of many tests at once: the chance of any false alarm among them stays at the level.",
    "p": "How often chance alone would give a difference as large as this.",
}
