/* The pipeline: additions in a model of a core, cycle by cycle. SPDX-License-Identifier: MIT */
{
    /* An addition begins when the previous one of its accumulator has ended and a port is free. */
    function schedule(s, steps) {
        const ready = Array(s.chains).fill(0), begun = [];
        const used = new Map();
        for (let i = 0; i < steps; i++) {
            let cycle = ready[i % s.chains];
            while ((used.get(cycle) || 0) >= s.ports) cycle++;
            begun.push({cycle, port: used.get(cycle) || 0, chain: i % s.chains});
            used.set(cycle, (used.get(cycle) || 0) + 1);
            ready[i % s.chains] = cycle + s.latency;
        }
        return {begun, end: Math.max(...ready)};
    }

    figure("pipeline", {
        title: "The pipeline",
        state: {latency: 4, ports: 2, lanes: 3, chains: 1, n: 10},
        build(f) {
            f.slider("chains", "accumulators", {min: 1, max: 12}), f.slider("latency", "latency, cycles", {min: 1, max: 8});
            f.slider("ports", "ports", {min: 1, max: 4});
            f.slider("lanes", "lanes", {min: 0, max: 4, show: v => digits(2 ** v)});
            f.slider("n", "values in the row", {min: 4, max: 13, show: v => digits(2 ** v)});
            this.cycles = f.surface(() => 28 + 34 * f.state.ports, "The first cycles of the ports");
            f.legend([["what", "A number: an addition to that accumulator begins. Grey: the port waits. Framed: accumulators and lanes are added up."]]);
            for (const [key, label] of [["cycles", "cycles of the model"], ["each", "values a cycle"], ["busy", "ports busy, of all cycles"],
                                        ["tail", "cycles to add up accumulators and lanes"]]) f.fact(key, label);
        },
        draw(f, s) {
            const d = this.cycles, lanes = 2 ** s.lanes, n = 2 ** s.n, steps = Math.ceil(n / lanes);
            const {begun, end} = schedule(s, steps);
            const tail = s.latency * (Math.ceil(Math.log2(Math.min(s.chains, steps))) + s.lanes), all = end + tail;
            const shown = Math.min(all, Math.max(12, Math.floor((d.width - 56) / 24))), step = (d.width - 56) / shown;
            for (let p = 0; p < s.ports; p++) {
                d.text(48, 46 + 34 * p, `port ${p + 1}`, "small", "end");
                for (let k = 0; k < shown; k++)
                    d.add("rect", {x: 54 + step * k + 1, y: 27 + 34 * p, width: step - 2, height: 28, rx: 3, class: k >= end ? "joins" : "idle"});
            }
            for (const {cycle, port, chain} of begun) if (cycle < shown) {
                d.add("rect", {x: 54 + step * cycle + 1, y: 27 + 34 * port, width: step - 2, height: 28, rx: 3, class: `chain chain${chain % 4}`});
                d.text(54 + step * (cycle + 0.5), 46 + 34 * port, String(chain + 1), "small on");
            }
            d.text(54, 16, `the first ${shown} cycles`, "small", "start");
            const need = s.latency * s.ports;
            f.say("cycles", digits(all)), f.say("each", digits(n / all, 3)), f.say("busy", `${Math.round(100 * steps / (all * s.ports))} %`);
            f.say("tail", digits(tail));
            f.conclude(s.chains < need ? `Each accumulator waits for itself: ${need} would keep ${s.ports === 1 ? "the port" : "the ports"} busy.`
                : tail > end ? "The ports are busy until the row ends, but adding up the accumulators takes longer than the row." : "The ports are busy until the row ends.");
        }
    });
}
