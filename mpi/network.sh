#!/usr/bin/env bash
# Times two ranks in shared memory and, as root, between two network namespaces. The virtual cable (veth) is plain,
# limited (tbf) or delayed (netem). mpi/network.sh build/release writes results/ranks.*. SPDX-License-Identifier: MIT
set -uo pipefail
build=$(realpath "${1:?the build folder}") out=results/ranks.csv
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
measure() { # SERIES MPIRUN...
    timeout 55 "${@:2}" "$build/normlab_openmpi" time "$1" 'batchnorm/forward/f32/{8..128*4}x256x49/normal' </dev/null >>$out || echo "FAILED: $1" >&2
}
mkdir -p results && echo study,panel,series,x,y >$out
"$build/normlab" --version >results/ranks.machine.txt && echo "date: $(date -u +%FT%TZ)" >>results/ranks.machine.txt
measure 'shared memory' mpirun.openmpi --oversubscribe -n 2

((EUID == 0)) || { echo "not measured: networks, which need root" >&2 && exit; }
own=normlab$$ agent=$(mktemp)
trap 'ip netns del ${own}1; ip netns del ${own}2; rm -f "$agent"' EXIT
ip netns add ${own}1 && ip netns add ${own}2 && ip link add name end1 netns ${own}1 type veth peer name end2 netns ${own}2 ||
    { echo "not measured: networks; the kernel has no network namespaces or no veth" >&2 && exit 1; }
for k in 1 2; do
    ip -n $own$k addr add 10.77.0.$k/24 dev end$k && ip -n $own$k link set end$k up && ip -n $own$k link set lo up
done
# mpirun calls this instead of ssh: HOST COMMAND...
printf '#!/bin/sh\nhost=$1 && shift && exec ip netns exec %s${host##*.} sh -c "$*"\n' $own >"$agent" && chmod +x "$agent"
network() { # SERIES [QDISC...]: measures, with the queueing discipline QDISC on both ends of the cable
    local k why
    for k in 1 2; do
        ip netns exec $own$k tc qdisc del dev end$k root 2>/dev/null
        [[ ! ${2-} ]] || why=$(ip netns exec $own$k tc qdisc add dev end$k root "${@:2}" 2>&1) ||
            { echo "not measured: $1; the kernel refuses $2: $why" >&2 && return; }
    done
    measure "$1" ip netns exec ${own}1 mpirun.openmpi --mca plm_rsh_agent "$agent" --mca btl tcp,self --mca pml ob1 \
        --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 --bind-to none --mca mpi_yield_when_idle 1 --host 10.77.0.1,10.77.0.2 -n 2
}
network 'veth'
network 'veth 1 Gbit/s' tbf rate 1gbit burst 64k latency 50ms
network 'veth 20 us' netem delay 20us
network 'veth 200 us' netem delay 200us
