"""A training step of a small transformer in PyTorch: with LayerNorm, with RMSNorm, and with no norm."""
from collections.abc import Callable
from math import nan
from typing import Any, NamedTuple

from ..timing import race
from .adapter import Missing
from .registry import confine, make


NAMES = ("pytorch", "torch_compile")


class Step(NamedTuple):
    """A row of the results. Shares are per cent of the step with LayerNorm."""

    how: str
    version: str
    case: str  #: "tokens x width x layers", and "/bf16" unless it is f32
    threads: int
    verdict: str
    step_ns: float = nan  #: time of a step with LayerNorm
    share: float = nan  #: share of the norms: what a step without norms saves
    share_low: float = nan
    share_high: float = nan
    saving: float = nan  #: what a step with RMSNorm saves
    saving_low: float = nan
    saving_high: float = nan
    rounds: int = 0
    why: str = ""


def sizes(quick: bool, device: str) -> list[str]:
    if device == "cuda" and not quick:
        return ["4096x1024x8", "4096x1024x8/bf16", "16384x1024x8/bf16"]
    return ["64x128x2"] if quick else ["128x256x4", "256x512x4"]


def model(torch: Any, norm: Callable[[int], Any], width: int, layers: int) -> Any:
    """Pre-norm blocks of attention with 4 heads and an MLP of 4 * width."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = norm(width), norm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            heads = (t.unflatten(-1, (4, -1)).transpose(-2, -3) for t in self.qkv(self.first(x)).chunk(3, -1))
            mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + self.out(mixed.transpose(-2, -3).flatten(-2))
            return x + self.down(F.gelu(self.up(self.second(x))))

    torch.manual_seed(0)
    return nn.Sequential(*(Block() for _ in range(layers)), norm(width))


def step_of(torch: Any, net: Any, x: Any, compiled: bool) -> Callable[[], None]:
    """Makes a step: forward, backward, SGD."""
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
    run = torch.compile(net, dynamic=False) if compiled else net

    def step() -> None:
        optimizer.zero_grad()
        run(x).square().mean().backward()
        optimizer.step()
        if x.is_cuda:
            torch.cuda.synchronize()

    step()
    return step


def measure_by_name(how: str, case: str, threads: int, seconds: float, device: str = "cpu") -> Step:
    """registry.each() calls this function in a separate process. Does not verify the norms: saving.py does."""
    confine(threads)
    try:
        framework: Any = make(how, threads, device)
    except Missing as missing:
        return Step(how, "", case, threads, "skip", why=str(missing))
    if how not in NAMES:
        return Step(how, "", case, threads, "skip", why="a step is measured in PyTorch only")
    size, _, kind = case.partition("/")
    torch, (tokens, width, layers) = framework.torch, map(int, size.split("x"))
    as_told = {"device": device, "dtype": torch.bfloat16 if kind == "bf16" else torch.float32}
    x = torch.randn(1, tokens, width, generator=torch.Generator().manual_seed(1)).to(**as_told)
    norms = (torch.nn.LayerNorm, lambda c: torch.nn.RMSNorm(c, eps=1e-5), lambda c: torch.nn.Identity())
    steps = [step_of(torch, model(torch, norm, width, layers).to(**as_told), x, framework.compiled) for norm in norms]
    timed = race(*steps, seconds=seconds * 3)
    return Step(how, framework.version, case, threads, "ok", timed.ns[0][0], *timed.savings[2],
                *timed.savings[1], timed.rounds)


HEAD = f"{'framework':14} {'step':12} {'LayerNorm':>8} ms, shares of this time [95 % confidence]"


def line(row: Any) -> str:
    return (f"{row.how:14} {row.case:12} {row.step_ns / 1e6:8.2f} ms, norms {row.share:.1f} % [{row.share_low:.1f}, "
            f"{row.share_high:.1f}], RMSNorm saves {row.saving:.1f} % [{row.saving_low:.1f}, {row.saving_high:.1f}]")
