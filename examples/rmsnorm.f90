! RMSNorm forward for --load, in Fortran; the types are those of normlab.h, member by member:
!
!     gfortran -O2 -ffp-contract=off -shared -fPIC examples/rmsnorm.f90 -o rmsnorm.so
!
! SPDX-License-Identifier: MIT
module rmsnorm
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer(c_int), parameter :: kernel_abi = 4  ! NL_KERNEL_ABI of these types

    type, bind(c) :: nl_problem
        integer(c_int) :: op, pass, dtype, casting
        integer(c_size_t) :: n, c, s
        real(c_float) :: eps, momentum
        logical(c_bool) :: biased_running_var
        integer(c_int) :: stores, parameters, sum
        integer(c_size_t) :: inner, strides(2, 5)
    end type

    type, bind(c) :: nl_forward_args
        type(c_ptr) :: x, residual, gate, gamma, beta, y, residual_out, mean, rstd
        type(c_ptr) :: running_mean, running_var, scratch, plan
    end type

    type, bind(c) :: nl_impl
        type(c_ptr) :: name, isa, about
        integer(c_int) :: ops, passes, dtypes
        integer(c_size_t) :: c_max
        type(c_ptr) :: thresholds
        logical(c_bool) :: threaded, strided, streams, heeds_stores, range_safe, demonstration
        integer(c_int) :: method, lanes
        type(c_funptr) :: forward, backward, scratch
    end type

    character(len=16, kind=c_char), target, save :: name = "fortran/rmsnorm" // c_null_char
    character(len=2, kind=c_char), target, save :: isa = "c" // c_null_char
    character(len=23, kind=c_char), target, save :: about = "the formula in Fortran" // c_null_char
    type(nl_impl), target, save :: impl

    public :: normlab_kernel_abi, normlab_kernel

contains

    subroutine forward(p, a, threads) bind(c)
        type(nl_problem), intent(in) :: p
        type(nl_forward_args), intent(in) :: a
        integer(c_int), value :: threads
        real(c_float), pointer :: x(:, :), residual(:, :), gamma(:), y(:, :), residual_out(:, :), rstd(:)
        real(c_float) :: squares, v, r
        integer(c_size_t) :: i, j

        nullify(residual, gamma, residual_out, rstd)  ! those that may be absent
        call c_f_pointer(a%x, x, [p%c, p%n])
        call c_f_pointer(a%y, y, [p%c, p%n])
        if (c_associated(a%residual)) call c_f_pointer(a%residual, residual, [p%c, p%n])
        if (c_associated(a%residual_out)) call c_f_pointer(a%residual_out, residual_out, [p%c, p%n])
        if (c_associated(a%gamma)) call c_f_pointer(a%gamma, gamma, [p%c])
        if (c_associated(a%rstd)) call c_f_pointer(a%rstd, rstd, [p%n])

        do j = 1, p%n
            squares = 0
            do i = 1, p%c
                v = x(i, j)
                if (associated(residual)) v = v + residual(i, j)
                squares = squares + v * v
            end do
            r = 1 / sqrt(squares / real(p%c, c_float) + p%eps)

            do i = 1, p%c  ! y may alias x, and residual_out residual
                v = x(i, j)
                if (associated(residual)) v = v + residual(i, j)
                if (associated(residual_out)) residual_out(i, j) = v
                v = v * r
                if (associated(gamma)) v = v * gamma(i)
                y(i, j) = v
            end do
            if (associated(rstd)) rstd(j) = r
        end do
    end subroutine

    function normlab_kernel_abi() bind(c) result(number)
        integer(c_int) :: number
        number = kernel_abi
    end function

    function normlab_kernel(i) bind(c) result(kernel)
        integer(c_size_t), value :: i
        type(c_ptr) :: kernel
        kernel = c_null_ptr
        if (i > 0) return
        impl = nl_impl(name=c_loc(name), isa=c_loc(isa), about=c_loc(about), &
            ops=ishft(1, 2), passes=1, dtypes=1, &  ! NL_RMSNORM, NL_FORWARD, NL_F32
            c_max=0, thresholds=c_null_ptr, &
            threaded=.false._c_bool, strided=.false._c_bool, streams=.false._c_bool, &
            heeds_stores=.false._c_bool, &
            range_safe=.false._c_bool, demonstration=.false._c_bool, &
            method=3, lanes=1, &  ! NL_TWO_PASS
            forward=c_funloc(forward), backward=c_null_funptr, scratch=c_null_funptr)
        kernel = c_loc(impl)
    end function

end module
