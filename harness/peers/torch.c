/* Loads PyTorch's layers only for commands that select them: loading takes as long as a short
 * measurement. SPDX-License-Identifier: MIT */
#include "peers/peers.h"
#include "registry.h"

#include <dlfcn.h>
#include <stdio.h>

void torch_register(void (*note)(const char *text)) {
    char why[400];
    void *library = dlopen(NL_TORCH_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const nl_impl *(*layers)(void (*)(const char *)) =
        library ? (const nl_impl *(*)(void (*)(const char *)))dlsym(library, "torch_layers") : NULL;
    if (!layers) {
        snprintf(why, sizeof why, "normlab: PyTorch is left out: %s", dlerror());
        note(why);
    } else if (one_openmp_runtime("PyTorch", note)) {
        for (const nl_impl *m = layers(note); m->name; m++) nl_registry_add(m);
    }
}
