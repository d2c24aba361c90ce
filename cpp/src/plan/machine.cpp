#include "plan/machine.hpp"

namespace dmlcpu {

// bench/calibrate.py --write fills in the numbers of the machine that it runs on. docs/tuning.md
// says where and when these were measured.
// clang-format off
const CostRow cost_rows[kCosts] = {
    // elements of 1, 2, 4 and 8 bytes: in vectors of 16, of 32, of 64 bytes
    {"call",             {{ 11.5F,  5.07F,  5.85F,  7.12F}, { 11.5F,  5.62F,  6.51F,   6.8F}, {  9.5F,  3.98F,  4.79F,  6.05F}}},
    {"tile",             {{ 57.1F,  52.5F,  38.4F,  35.2F}, {    60,  59.4F,  49.3F,  41.4F}, { 70.8F,  62.7F,  53.2F,  46.5F}}},
    {"take",             {{0.562F, 0.163F, 0.413F, 0.604F}, { 0.58F, 0.376F, 0.472F, 0.673F}, {0.328F, 0.211F, 0.699F, 0.686F}}},
    {"vector",           {{0.495F, 0.621F, 0.499F, 0.536F}, {0.576F, 0.653F, 0.613F,  0.64F}, {  1.2F,   1.3F,  1.05F,  1.07F}}},
    {"short vector",     {{0.505F, 0.902F, 0.546F, 0.638F}, {0.492F, 0.417F, 0.523F, 0.444F}, {0.509F, 0.532F, 0.334F, 0.347F}}},
    {"wide vector",      {{0.626F, 0.642F,  0.58F, 0.653F}, {0.766F, 0.802F, 0.722F, 0.827F}, { 1.35F,  1.43F,  1.23F,  1.28F}}},
    {"scalar",           {{0.961F,  1.09F,  1.13F,   1.3F}, {0.976F,  1.17F,   1.2F,   1.3F}, {0.987F,  1.07F,  1.13F,   1.3F}}},
    {"strided",          {{0.0668F, 0.127F,  0.21F, 0.414F}, {0.055F, 0.122F, 0.173F, 0.351F}, {0.0626F, 0.0946F, 0.175F, 0.353F}}},
    {"strided apart",    {{ 0.33F, 0.424F, 0.452F, 0.626F}, {0.296F, 0.382F, 0.429F, 0.627F}, {0.301F, 0.368F, 0.396F, 0.542F}}},
    {"transposed",       {{0.0591F, 0.0958F, 0.187F, 0.353F}, {0.0437F, 0.0628F, 0.121F, 0.217F}, {0.0354F, 0.0645F, 0.108F, 0.178F}}},
    {"square",           {{0.0787F, 0.115F, 0.241F, 0.598F}, {0.0488F, 0.0736F, 0.149F, 0.328F}, {0.0426F, 0.0726F, 0.138F, 0.252F}}},
    {"rank",             {{ 2.46F,   1.1F,  1.02F,  2.41F}, { 2.15F,   1.1F,  1.06F,  2.18F}, { 1.72F,  1.09F,  0.97F,  1.88F}}},
    {"merge",            {{    12,  9.31F,  7.63F,  4.12F}, { 14.3F,  10.3F,  10.5F,   7.4F}, { 14.4F,   9.4F,  9.85F,  7.69F}}},
    {"merged lane",      {{0.462F, 0.623F,  1.22F,  2.22F}, {0.348F, 0.382F, 0.761F,  1.18F}, {0.354F, 0.395F, 0.785F,  1.15F}}},
    {"merged group",     {{ 1.48F,   3.7F,  4.23F,  5.79F}, { 1.91F,  2.74F,  3.43F,  4.54F}, { 1.28F,  3.05F,   2.6F,  4.44F}}},
    {"merged result",    {{0.106F,      0, 0.318F, 0.179F}, {     0,      0, 0.066F,  0.44F}, {     0,      0, 0.0237F,      0}}},
    {"written apart",    {{0.505F, 0.611F,   0.6F, 0.922F}, {0.415F, 0.516F, 0.502F,  0.71F}, {0.365F, 0.451F, 0.455F, 0.687F}}},
    {"jump",             {{0.777F, 0.196F,  1.02F, 0.736F}, {0.644F, 0.189F,  1.25F, 0.682F}, {0.385F, 0.163F, 0.905F, 0.701F}}},
    {"row",              {{ 8.37F,  7.84F,  7.64F,  8.82F}, { 8.64F,  7.97F,  8.22F,  7.75F}, { 9.13F,  9.43F,   9.2F,  8.76F}}},
    {"long row",         {{ 11.9F,  11.8F,     11,  9.28F}, { 9.36F,  9.92F,  11.2F,  10.8F}, { 14.2F,  9.89F,  14.7F,  12.2F}}},
    {"row vector",       {{0.242F, 0.321F, 0.331F, 0.392F}, {0.392F, 0.482F, 0.436F, 0.442F}, {0.725F, 0.935F, 0.781F, 0.763F}}},
    {"row backward",     {{0.218F, 0.194F, 0.314F, 0.354F}, {0.376F, 0.247F, 0.395F, 0.428F}, {0.741F, 0.645F, 0.709F, 0.769F}}},
    {"row strided",      {{0.0456F,  0.11F, 0.225F,  0.36F}, {0.0299F, 0.0884F, 0.151F, 0.236F}, {0.0312F, 0.0789F, 0.157F, 0.252F}}},
    {"row apart",        {{0.241F,   0.4F, 0.454F, 0.621F}, {0.189F, 0.262F, 0.391F, 0.633F}, {0.201F, 0.308F,  0.39F, 0.606F}}},
    {"packed row",       {{ 13.3F,  11.5F,  9.65F,  18.2F}, { 10.4F,  13.8F,  10.4F,  11.6F}, { 11.5F,  11.1F,  9.86F,  9.87F}}},
    {"selected row",     {{ 76.8F,  77.9F,  65.5F,  56.8F}, { 93.1F,  98.5F,  92.9F,  69.8F}, {   109,    110,  96.2F,  74.1F}}},
    {"row packed",       {{0.425F, 0.181F, 0.372F,  1.46F}, {0.567F, 0.134F,  0.32F,  1.37F}, {0.388F, 0.132F, 0.328F, 0.943F}}},
    {"stripes vector",   {{ 1.64F,  1.93F,  1.58F,  1.92F}, { 2.16F,  2.57F,  1.88F,  2.24F}, {  4.3F,  5.37F,  4.12F,  3.01F}}},
    {"blocks vector",    {{0.355F, 0.478F, 0.372F, 0.383F}, {0.505F, 0.683F, 0.581F, 0.582F}, {0.912F,  1.39F,  1.18F,  1.07F}}},
    {"block searched",   {{ 43.1F,  36.2F,  36.7F,  42.4F}, { 43.8F,  41.3F,  30.3F,  40.1F}, {   116,  50.8F,  41.3F,  27.4F}}},
    {"sample vector",    {{ 1.43F,  1.68F,  1.42F,  1.14F}, { 1.99F,  2.46F,  1.99F,  1.58F}, { 4.47F,  4.97F,  4.05F,  3.48F}}},
    {"threshold byte",   {{0.677F, 0.196F, 0.103F, 0.044F}, {0.549F, 0.141F, 0.0642F, 0.0241F}, {0.452F,  0.16F, 0.0625F, 0.0262F}}},
    {"collected",        {{ 2.46F,  2.64F,  3.22F,  3.57F}, { 2.19F,  2.04F,  2.52F,  2.36F}, {  2.6F,  1.63F,  2.17F,  1.28F}}},
    {"sorted pair",      {{0.554F, 0.481F, 0.368F, 0.358F}, {0.462F, 0.305F, 0.297F, 0.365F}, { 1.32F, 0.897F, 0.765F,  0.79F}}},
    {"sorted by digits", {{   469, 0.00149F, 0.00167F, 0.00221F}, {   514, 0.00111F, 0.00108F, 0.00102F}, {   423, 0.00197F, 0.00132F, 0.0013F}}},
    {"sorted item",      {{  4.1F,  10.8F,  14.6F,  21.9F}, { 3.67F,  10.2F,  13.2F,  20.1F}, {  3.5F,  9.33F,  11.9F,  17.5F}}},
    {"key row",          {{  3.2F,  5.48F,  6.77F,  4.31F}, { 4.98F,  6.99F,  7.29F,  3.65F}, { 3.27F,  5.82F,  6.05F,  4.88F}}},
    {"slot vector",      {{0.851F, 0.704F, 0.903F,  1.23F}, {0.942F, 0.688F, 0.829F,  1.32F}, { 0.81F, 0.895F,  1.33F,  1.64F}}},
    {"slot later",       {{  7.4F,  6.52F,  8.03F,  8.57F}, {  5.2F,  6.26F,   5.8F,   8.6F}, { 7.46F,   9.5F,  7.06F,  10.8F}}},
    {"slot insert",      {{0.515F, 0.532F, 0.565F, 0.687F}, {0.515F, 0.517F, 0.586F, 0.682F}, {0.967F,  1.13F,  1.12F,  1.05F}}},
    {"slot written",     {{0.676F, 0.634F, 0.916F,  1.57F}, { 0.92F, 0.355F, 0.549F,  1.09F}, {0.807F, 0.192F, 0.318F,  1.66F}}},
    {"pair",             {{0.234F, 0.252F, 0.127F, 0.167F}, {0.205F, 0.262F, 0.0911F, 0.156F}, {0.481F, 0.607F, 0.454F, 0.501F}}},
    {"placed",           {{ 1.99F,  1.91F,  2.74F,  3.73F}, {  1.7F,  1.53F,   2.1F,  2.87F}, { 1.57F,  1.43F,  1.88F,  2.42F}}},
};
// clang-format on

Machine machine_of(std::string_view instruction_set, Family family, const Caches& caches) {
  // Intel's processors keep one of the few buffers that loads wait in for each line that is written
  // past the caches, until memory accepts it. On AMD's processors rows take longer with prefetches.
  const bool amd = family == Family::kAmd;
  const int vectors = instruction_set == "x86-64-v4" ? 2 : instruction_set == "x86-64-v3" ? 1 : 0;
  const std::int64_t l2 = (vectors == 2 ? 1024 : 512) * 1024;
  Machine machine = {vectors, 16 << vectors, {l2, 32 * 1024 * 1024}, !amd, amd};
  if (caches.l2 > 0) machine.caches.l2 = caches.l2;
  if (caches.l3 > 0) machine.caches.l3 = caches.l3;
  return machine;
}

}  // namespace dmlcpu
