// RMSNorm forward for --load, in Rust without a crate; the types are those of normlab.h, member by member:
//
//     rustc --edition 2021 -O -C panic=abort --crate-type cdylib examples/rmsnorm.rs -o rmsnorm.so
//
// SPDX-License-Identifier: MIT
use std::ffi::{c_int, c_uint, c_void};
use std::os::raw::c_char;

const KERNEL_ABI: c_int = 4; // NL_KERNEL_ABI of these types
const RMSNORM: c_uint = 2; // NL_RMSNORM
const FORWARD: c_uint = 0;
const F32: c_uint = 0;
const TWO_PASS: c_int = 3;

#[repr(C)]
pub struct Problem {
    op: c_int,
    pass: c_int,
    dtype: c_int,
    casting: c_int,
    n: usize,
    c: usize,
    s: usize,
    eps: f32,
    momentum: f32,
    biased_running_var: bool,
    stores: c_int,
    parameters: c_int,
    sum: c_int,
    inner: usize,
    strides: [[usize; 2]; 5],
}

#[repr(C)]
pub struct ForwardArgs {
    x: *const f32,
    residual: *const f32,
    gate: *const f32,
    gamma: *const f32,
    beta: *const f32,
    y: *mut f32,
    residual_out: *mut f32,
    mean: *mut f32,
    rstd: *mut f32,
    running_mean: *mut f32,
    running_var: *mut f32,
    scratch: *mut c_void,
    plan: *const c_void,
}

type Kernel = unsafe extern "C" fn(&Problem, &ForwardArgs, c_int);

#[repr(C)]
pub struct Impl {
    name: *const c_char,
    isa: *const c_char,
    about: *const c_char,
    ops: c_uint,
    passes: c_uint,
    dtypes: c_uint,
    c_max: usize,
    thresholds: *const c_void,
    threaded: bool,
    strided: bool,
    streams: bool,
    heeds_stores: bool,
    range_safe: bool,
    demonstration: bool,
    method: c_int,
    lanes: c_int,
    forward: Option<Kernel>,
    backward: *const c_void,
    scratch: *const c_void,
}

unsafe impl Sync for Impl {} // it is constant

// Pointers, not slices: y may alias x, and residual_out may alias residual.
unsafe extern "C" fn forward(p: &Problem, a: &ForwardArgs, _threads: c_int) {
    for r in 0..p.n {
        let value = |i: usize| {
            let at = r * p.c + i;
            let x = *a.x.add(at);
            if a.residual.is_null() { x } else { x + *a.residual.add(at) }
        };
        let squares = (0..p.c).fold(0f32, |sum, i| sum + value(i) * value(i));
        let rstd = 1.0 / (squares / p.c as f32 + p.eps).sqrt();

        for i in 0..p.c {
            let v = value(i);
            if !a.residual_out.is_null() {
                *a.residual_out.add(r * p.c + i) = v;
            }
            let gain = if a.gamma.is_null() { 1.0 } else { *a.gamma.add(i) };
            *a.y.add(r * p.c + i) = v * rstd * gain;
        }
        if !a.rstd.is_null() {
            *a.rstd.add(r) = rstd;
        }
    }
}

static IMPL: Impl = Impl {
    name: b"rust/rmsnorm\0".as_ptr().cast(),
    isa: b"c\0".as_ptr().cast(),
    about: b"the formula in Rust\0".as_ptr().cast(),
    ops: 1 << RMSNORM,
    passes: 1 << FORWARD,
    dtypes: 1 << F32,
    c_max: 0,
    thresholds: std::ptr::null(),
    threaded: false,
    strided: false,
    streams: false,
    heeds_stores: false,
    range_safe: false,
    demonstration: false,
    method: TWO_PASS,
    lanes: 1,
    forward: Some(forward),
    backward: std::ptr::null(),
    scratch: std::ptr::null(),
};

#[no_mangle]
pub extern "C" fn normlab_kernel_abi() -> c_int {
    KERNEL_ABI
}

#[no_mangle]
pub extern "C" fn normlab_kernel(i: usize) -> *const Impl {
    if i == 0 { &IMPL } else { std::ptr::null() }
}
