1,5c\
/* Lab 10, a solution.\
 * idea   Two ranks know count, mean and M2 of their own samples. The mean of all is the two means\
 *        weighted by the counts; M2 of all also has the distance d of the means:\
 *            mean = mean_a + d * n_b / n,   M2 = M2_a + M2_b + d^2 * n_a * n_b / n\
 * gain   One message of three numbers instead of two messages, one after the other.\
 * fails  d is a difference of two rounded means: the error grows with mean/sigma.\
 * SPDX-License-Identifier: MIT */
/(void)b;/d
/TODO: n, mean and m2/c\
    moments all = {.n = a.n + b.n};\
    float d = b.mean - a.mean, share = b.n / all.n;\
    all.mean = a.n > 0 ? a.mean + d * share : b.mean;\
    all.m2 = a.m2 + b.m2 + (a.n > 0 ? d * d * a.n * share : 0);\
    return all;
