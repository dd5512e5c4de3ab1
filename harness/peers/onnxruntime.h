/* ONNX Runtime's layers. SPDX-License-Identifier: MIT */
#ifndef NL_ONNXRUNTIME_H
#define NL_ONNXRUNTIME_H

/* Loads ONNX Runtime and adds its layers to the table. note shows messages, now and whenever a call
 * fails. */
void onnxruntime_register(void (*note)(const char *text));

#endif
