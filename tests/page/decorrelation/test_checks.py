"""The questions that the page asks."""

from trivium.page.decorrelation.checks import check, checks, empty_box


def test_a_check_compares_variants_on_one_set_or_one_variant_on_two():
    assert check("?", "more", "ours", "finetune").wanted == {
        "dataset": "coco",
        "model": "clip",
        "variant": "ours",
        "other_variant": "finetune",
        "set": "synthetic",
        "other_set": "synthetic",
        "measure": "odmap@1",
        "subset": "all",
    }
    assert check("?", "same", "ours", "ours", other_set="rendered").wanted["other_set"] == "rendered"


def test_empty_boxes_are_asked_of_the_data_sets_that_are_there():
    def boxes(datasets):
        return [
            (each.wanted["dataset"], each.wanted["variant"])
            for each in checks(datasets)
            if each.wanted["set"] == "empty_image_to_text"
        ]

    assert boxes(["coco"]) == [("coco", "ours"), ("coco", "finetune")]
    assert boxes(["coco", "flickr30k"])[2:] == [("flickr30k", "ours"), ("flickr30k", "finetune")]
    asked = empty_box("?", "flickr30k", "ours")
    assert asked.expected == "same"
    assert asked.wanted["other_set"] == "image_to_text"
