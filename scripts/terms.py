#!/usr/bin/env python3
"""Does the course explain each of its terms before it uses the term? An earlier use is allowed in a link, which leads to
the explanation. Uses in formulas, code, comments and titles do not count. Exit code: 0 yes, 1 no.
Standard library only. SPDX-License-Identifier: MIT"""
import itertools
import re
import sys

import course
import markers

# term: (a pattern of its uses, a pattern of its explanation)
TERMS = {
    "case": (r"\*case\*|\bcases?\b such", r"A \*case\* such as"),
    "rung": (r"\brungs?\b", r"\*rung\* such as|\[rungs?\]\(\.\./glossary"),
    "unit (of error)": (r"\b(?<!normal )units?\b(?= of 2|\.| allowed)", r"An error is in \*units\*"),
    "demo (verdict)": (r"`demo`", r"verdict `demo`: its method promises nothing"),
    "root mean square": (r"root mean square|\brms\b", r"is its root mean square"),
    "ReLU": (r"\bReLU\b", r"the ReLU replaces negative values by 0"),
    "loss": (r"\bloss\b", r"\(the \*loss\*\)"),
    "learning rate": (r"learning rates?", r"or \*learning rate\*"),
    "eps": (r"(?<!`)\beps\b(?!`)", r"The small constant `eps`"),
    "view": (r"\bviews?\b(?= of one)", r"a \*view\*, has the arrays"),
    "BatchNorm": (r"BatchNorm", r"BatchNorm, the subject of \[chapter 2\]"),
    "residual": (r"\bresidual\b", r"A \*residual\*, a sum that carries x"),
    "pre-norm": (r"pre-norm", r"\| pre-norm \| the norm moves to"),
    "channel": (r"\bchannels?\b", r"`\[n\]\[c\]\[s\]`: n samples, c channels"),
    "group": (r"\bgroups?\b", r"form a\n?\s*\[group\]"),
    "running statistics": (r"running (?:mean|variance|statistics)", r"so training also moves a running mean|keeps running statistics"),
    "biased, unbiased": (r"\b(?:un)?biased\b", r"it is \*unbiased\*|the variance is \*biased\*"),
    "momentum": (r"\bmomentum\b", r"which axes, which variance, which momentum"),
    "token": (r"\btokens?\b", r"B sentences, L tokens each"),
    "attention": (r"\battention\b", r"\*Attention\*, the part that lets"),
    "padding": (r"\bpadding\b", r"filled up to the longest|sentences are padded"),
    "weight decay": (r"weight decay", r"\*Weight decay\* multiplies"),
    "effective rate": (r"effective rate", r"\*effective rate\*"),
    "Dynamic Tanh": (r"Dynamic Tanh", r"\*Dynamic Tanh\*"),
    "post-norm": (r"post-norm", r"\\text\{post-norm:\}"),
    "QK-norm": (r"QK-norm", r"\*\*QK-norm\.\*\*"),
    "massive activations": (r"[Mm]assive activations", r"\*\*Massive activations\.\*\*"),
    "bf16, f16": (r"\bb?f16\b", r"f16 or bf16, floats of 16 bits|bf16, floats? of 16 bits|the 16-bit type f16"),
    "ulp": (r"\bulps?\b", r"The \*ulp\* of a number|\[ulp\]\("),
    "significand": (r"significand", r"the \*significand\*, is"),
    "unit roundoff": (r"unit roundoff", r"\$u\$ is the unit roundoff"),
    "subnormal": (r"\bsubnormal\b", r"a subnormal number, which has no leading 1"),
    "condition number": (r"condition number", r"The factor is called the condition number|the condition number says how"),
    "kappa": (r"\bkappa\b|\\kappa", r"this project's condition number, kappa"),
    "loss scaling": (r"loss scaling", r"\*loss scaling\*"),
    "scale (of an error)": (r"\[scale\b", r"\[scale\]\(\.\./glossary"),
    "Welford": (r"\b[Ww]elford\b", r"needs only one reading: every element updates"),
    "refined": (r"\brefined\b", r"error of `refined` is two"),
    "shifted": (r"\bshifted\b(?= sums| rung)|rung \*shifted\*", r"the rung \*shifted\*"),
    "certified": (r"\bcertified\b", r"This method is called \*certified\*"),
    "lanes": (r"\blanes?\b", r"Let \$L\$ chains take turns"),
    "pairwise": (r"\bpairwise\b", r"Sum both halves by themselves"),
    "compensated sum": (r"\bcompensated\b|Kahan's", r"Kahan's sum computes each rounding error|Kahan's correction below"),
    "latency": (r"\blatency\b", r"from operands to result|one operation takes \(latency\)"),
    "throughput": (r"\bthroughput\b", r"start in each cycle \(throughput\)"),
    "bandwidth": (r"\bbandwidth\b", r"bytes arrive \(bandwidth\)"),
    "line (of memory)": (r"cache lines?|\blines\b of 64", r"exchange \*lines\* of 64 bytes"),
    "streaming store": (r"streaming stores?|\*streaming\* store", r"A \*streaming\* store skips"),
    "arithmetic intensity": (r"arithmetic intensity", r"\*arithmetic intensity\* \$I\$"),
    "roofline": (r"\broofline\b", r"flops per second: the roofline"),
    "vector": (r"\bvectors?\b of (?:8|16)|\bVLEN\b", r"A vector of 8 or 16 floats \*is\*"),
    "accumulator": (r"\baccumulators?\b", r"One vector accumulator is again a chain|Let \$L\$ chains|\[accumulators?\]"),
    "race": (r"\braces?\b", r"That is a \*\*race\*\*"),
    "false sharing": (r"[Ff]alse sharing", r"\*\*False sharing\.\*\*"),
    "batch invariance": (r"[Bb]atch invarian(?:ce|t)|batch-invariant", r"\*Batch invariance\* means"),
    "fork threshold": (r"fork threshold", r"Hence a \*fork threshold\*"),
    "round (of a measurement)": (r"\[round\]|hundreds of rounds", r"In a \[round\]"),
    "A/A, band": (r"\bA/A\b|\bthe \[?band\b", r"under another name \(A/A\)"),
    "sitting": (r"\bsittings?\b", r"\*sitting\* ends"),
    "fused": (r"\b(?:un)?fused\b", r"\*\*Unfused\*\*, each operation|one kernel does both|Fused into one kernel, either layer"),
    "Amdahl's law": (r"Amdahl", r"By Amdahl's law"),
    "reference": (r"\breference\b(?! pages?)", r"The \[reference\]\(|long-double reference"),
    "guard page": (r"guard pages?", r"ends at a \*guard page\*"),
    "mutant": (r"\bmutants?\b", r"there are \[mutants\]"),
    "museum": (r"\bmuseum\b", r"keeps public bug reports as data|\[a museum piece\]"),
}


def prose(text):
    """The text with blanks instead of code, formulas, comments and titles; the prose stays at the same offsets."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    lines = r"^(?:    |#|Previous: |Next: |!\[).*$"
    for pattern, flags in ((r"^```.*?^```|<!--.*?-->|^## Sources.*", re.M | re.S), (lines, re.M), (r"\$[^$\n]+\$|\]\([^)]*\)", 0)):
        text = re.sub(pattern, blank, text, flags=flags)
    return text


def in_link(text, at):
    """Is the place inside the text of a link?"""
    before = text[text.rfind("\n\n", 0, at) + 1:at]
    opened = before.rfind("[") > before.rfind("]")
    return opened and re.match(r"[^\[\]]*\]\(", text[at:]) is not None


def faults():
    pages = [(page, text := page.read_text(), prose(text)) for page in course.chapters()]
    for term, (use, explanation) in TERMS.items():
        explanation = explanation.replace(" ", r"\s+")
        where, begin = next(((i, match.start()) for i, (_, text, _) in enumerate(pages)
                             if (match := re.search(explanation, text))), (None, None))
        if where is None:
            yield f"nothing explains {term}: /{explanation}/ is in no chapter"
            continue
        body = pages[where][1]
        idea = [at.start() for at in itertools.islice(re.finditer(r"\n\n", body), 2)]  # title and idea may use any term
        paragraph = body.rfind("\n\n", 0, begin)
        for i, (page, text, words) in enumerate(pages[:where + 1]):
            for match in re.finditer(use, words):
                early = i < where or idea[-1] < match.start() < paragraph
                if early and not in_link(text, match.start()):
                    line = text.count("\n", 0, match.start()) + 1
                    yield f"{page.name}:{line} uses '{match[0]}' before {pages[where][0].name} explains it"
                    break


if __name__ == "__main__":
    print(f"{len(TERMS)} terms")
    sys.exit(markers.report(list(faults())))
