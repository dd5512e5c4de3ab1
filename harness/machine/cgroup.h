/* The limits of our control group and of those above it. SPDX-License-Identifier: MIT */
#ifndef NL_CGROUP_H
#define NL_CGROUP_H

#include <stdbool.h>

typedef struct group_limits {
    bool known;
    double cpus;      /* HUGE_VAL: no quota */
    double bytes;     /* HUGE_VAL: no limit */
    double throttled; /* periods in which the quota stopped us, since the group was made */
} group_limits;

group_limits cgroup_limits(void);

#endif
