/* The limits of this process's control group and its ancestors. SPDX-License-Identifier: MIT */
#ifndef NL_CGROUP_H
#define NL_CGROUP_H

#include <stdbool.h>

typedef struct group_limits {
    bool known;
    double cpus;      /* HUGE_VAL: no quota */
    double bytes;     /* HUGE_VAL: no limit */
    double throttled; /* periods in which the quota stopped a group, since it was created */
} group_limits;

group_limits cgroup_limits(void);

#endif
