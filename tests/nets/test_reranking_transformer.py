import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from trivium.nets.reranking_transformer import Described, RerankingTransformer

GLOBAL, WIDTH = 10, 16


@pytest.fixture
def model() -> RerankingTransformer:
    torch.manual_seed(0)
    network = RerankingTransformer(global_dimension=GLOBAL, width=WIDTH, layers=3, heads=4, hidden=24, scales=7)
    for weights in network.parameters():  # biases and norms are all alike at first
        weights.data += 0.1 * torch.randn_like(weights)
    return network.eval()


def images(counts: list[int], most: int, seed: int) -> Described:
    torch.manual_seed(seed)
    present = torch.arange(most) < torch.tensor(counts)[:, None]
    return Described(
        overall=torch.randn(len(counts), GLOBAL),
        local=torch.randn(len(counts), most, WIDTH),
        scales=torch.randint(0, 7, (len(counts), most)),
        present=present,
    )


def reference(model: RerankingTransformer, query: Described, target: Described) -> Tensor:
    """The same network by torch's own layers, every token of every layer computed."""
    own = model.layers[0]
    peer = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(WIDTH, own.heads, 24, dropout=0, batch_first=True), 3, enable_nested_tensor=False
    )
    for theirs, ours in zip(peer.layers, model.layers, strict=True):
        theirs.self_attn.in_proj_weight.data = ours.in_projection.weight.data
        theirs.self_attn.in_proj_bias.data = ours.in_projection.bias.data
        theirs.self_attn.out_proj.load_state_dict(ours.out_projection.state_dict())
        theirs.linear1.load_state_dict(ours.widen.state_dict())
        theirs.linear2.load_state_dict(ours.narrow.state_dict())
        theirs.norm1.load_state_dict(ours.norm_attention.state_dict())
        theirs.norm2.load_state_dict(ours.norm_feed_forward.state_dict())
    segment = model.segment_embeddings.weight
    tokens, padded = [], []
    for pair in range(len(query.overall)):
        row = [segment[2]]
        absent = [False]
        for image, local, whole in ((query, 0, 4), (target, 1, 5)):
            row.append(functional.normalize(model.global_projection(image.overall[pair]), dim=0) + segment[whole])
            for place in range(image.local.shape[1]):
                token = functional.normalize(image.local[pair, place], dim=0)
                row.append(token + model.scale_embeddings.weight[image.scales[pair, place]] + segment[local])
            row += [segment[3]] if image is query else []
            absent += [False, *(~image.present[pair]).tolist()] + ([False] if image is query else [])
        tokens.append(torch.stack(row))
        padded.append(absent)
    states = peer.train()(torch.stack(tokens), src_key_padding_mask=torch.tensor(padded))
    return model.classifier(states[:, 0])[:, 0]


def test_agrees_with_torchs_transformer(model: RerankingTransformer) -> None:
    query, target = images([5, 2, 0], 5, seed=1), images([3, 4, 1], 4, seed=2)
    with torch.no_grad():
        torch.testing.assert_close(model(query, target), reference(model, query, target), rtol=1e-5, atol=1e-5)


def test_padding_changes_nothing(model: RerankingTransformer) -> None:
    query, target = images([2, 3], 3, seed=1), images([3, 1], 3, seed=2)
    padded = Described(
        query.overall,
        torch.cat([query.local, 1e3 * torch.ones(2, 4, WIDTH)], dim=1),
        torch.cat([query.scales, torch.ones(2, 4, dtype=torch.long)], dim=1),
        torch.cat([query.present, torch.zeros(2, 4, dtype=torch.bool)], dim=1),
    )
    with torch.no_grad():
        torch.testing.assert_close(model(padded, target), model(query, target), rtol=1e-5, atol=1e-5)


def test_order_of_local_descriptors_does_not_matter(model: RerankingTransformer) -> None:
    query, target = images([4], 4, seed=1), images([4], 4, seed=2)
    turned = query._replace(local=query.local.flip(1), scales=query.scales.flip(1))
    with torch.no_grad():
        torch.testing.assert_close(model(turned, target), model(query, target), rtol=1e-5, atol=1e-5)


def test_descriptors_count_by_direction_only(model: RerankingTransformer) -> None:
    query, target = images([4], 4, seed=1), images([4], 4, seed=2)
    with torch.no_grad():
        longer = model(query._replace(local=7 * query.local), target)
        torch.testing.assert_close(longer, model(query, target), rtol=1e-5, atol=1e-5)
        assert not torch.allclose(model(query._replace(scales=(query.scales + 1) % 7), target), model(query, target))


def test_images_without_local_descriptors_are_told_apart_by_their_global_ones(model: RerankingTransformer) -> None:
    query, target = images([0, 0], 1, seed=1), images([0, 0], 1, seed=2)
    with torch.no_grad():
        logits = model(query, target)
    assert torch.isfinite(logits).all()
    assert logits[0] != logits[1]


def test_sizes_of_the_paper() -> None:
    network = RerankingTransformer(global_dimension=2048, width=128, layers=6, heads=4, hidden=1024, scales=7)
    layer = 128 * 384 + 384 + 128 * 128 + 128 + 2 * 128 * 1024 + 1024 + 128 + 4 * 128
    expected = 6 * layer + 2048 * 128 + 128 + 7 * 128 + 6 * 128 + 128 + 1
    assert sum(weights.numel() for weights in network.parameters()) == expected


@pytest.mark.parametrize("heads", [1, 4])
def test_begins_as_a_matcher(heads: int) -> None:
    """In the first layer a token becomes its difference from the most similar token of the other image."""
    torch.manual_seed(0)
    network = RerankingTransformer(global_dimension=GLOBAL, width=128, layers=2, heads=heads, hidden=8, scales=7)
    network.begin_as_matcher(200.0)
    first = network.layers[0]
    local = functional.normalize(torch.randn(3, 128), dim=1)
    marks = network.segment_embeddings.weight.detach()
    tokens = torch.cat([local + marks[0], local.flip(0) + marks[1]])[None]
    queries, keys, values = first.in_projection(tokens).chunk(3, dim=-1)
    logits = first._split(queries) @ first._split(keys).transpose(-1, -2) / (128 // heads) ** 0.5
    attention = logits.softmax(dim=-1)[0]
    assert (attention[:, :3, :3] < 1e-3).all()
    assert (attention[:, 3:, 3:] < 1e-3).all()
    if heads == 1:
        assert attention[0].argmax(dim=1).tolist() == [5, 4, 3, 2, 1, 0]
    torch.testing.assert_close(values, tokens)
    torch.testing.assert_close(first.out_projection(values), -tokens)


def test_logits_are_of_full_precision_under_autocast(model: RerankingTransformer) -> None:
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(images([5] * 32, 5, 0), images([5] * 32, 5, 1))
    assert logits.dtype == torch.float32
    assert (logits != logits.bfloat16().float()).float().mean() > 0.9  # eight bits would make articles tie
