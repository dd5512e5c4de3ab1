/* PyTorch's layers. SPDX-License-Identifier: MIT */
#ifndef NL_TORCH_H
#define NL_TORCH_H

/* Loads torch.cpp's library, and PyTorch with it, and adds the layers to the table. note shows
 * messages, now and whenever a call fails. */
void torch_register(void (*note)(const char *text));

#endif
