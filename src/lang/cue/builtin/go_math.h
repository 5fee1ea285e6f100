#pragma once

// Functions of real numbers as Go computes them on most machines, by the rational approximations of the Cephes library:
// the last digit is often another than that of the C library.
namespace tutti::cue::go_math {

double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double atan2(double y, double x);
double sinh(double x);
double cosh(double x);
double tanh(double x);

}  // namespace tutti::cue::go_math
