/* Processes whose parent has ended. SPDX-License-Identifier: MIT */
#ifndef NL_ORPHANS_H
#define NL_ORPHANS_H

/* From here on they become children of this process, if they descend from it; and end all its
 * children. Nothing elsewhere than on Linux. */
void orphans_adopt(void);
void orphans_end(void);

#endif
