#include "plan/machine.hpp"

namespace dmlcpu {

// bench/calibrate.py --write fills in the numbers of the machine that it runs on. docs/tuning.md
// says where and when these were measured.
// clang-format off
const CostRow cost_rows[kCosts] = {
    // elements of 1, 2, 4 and 8 bytes: in vectors of 16, of 32, of 64 bytes
    {"call",             {{ 9.11F,  3.66F,  5.09F,  5.97F}, { 9.84F,  6.21F,  5.44F,  4.17F}, { 9.91F,  8.15F,  3.88F,  5.36F}}},
    {"tile",             {{   134,  85.3F,     77,  61.9F}, { 80.6F,     61,     91,  60.7F}, { 64.6F,     63,  49.4F,  49.2F}}},
    {"take",             {{0.518F, 0.139F, 0.559F, 0.627F}, {0.622F, 0.475F, 0.541F, 0.572F}, {0.233F, 0.212F, 0.695F, 0.868F}}},
    {"vector",           {{0.669F, 0.884F, 0.575F, 0.638F}, {0.754F, 0.821F, 0.743F, 0.786F}, { 1.22F,   1.3F,      1, 0.893F}}},
    {"short vector",     {{0.505F, 0.902F, 0.546F, 0.638F}, {0.505F, 0.902F, 0.546F, 0.638F}, { 0.56F, 0.593F, 0.351F, 0.318F}}},
    {"wide vector",      {{0.747F, 0.674F, 0.661F, 0.688F}, { 1.08F, 0.964F, 0.879F, 0.863F}, {  1.2F,   1.3F,  1.17F,  1.13F}}},
    {"scalar",           {{ 1.07F,  1.28F,  1.34F,   1.3F}, { 1.05F,   1.3F,  1.42F,   1.3F}, { 0.95F,  1.06F,  1.38F,   1.3F}}},
    {"strided",          {{0.0747F, 0.192F, 0.272F, 0.568F}, {0.0848F, 0.155F, 0.298F, 0.496F}, {0.055F, 0.105F, 0.218F, 0.375F}}},
    {"transposed",       {{0.0886F, 0.126F,  0.23F, 0.383F}, {0.0696F, 0.102F, 0.158F, 0.275F}, {0.0519F, 0.0834F, 0.129F, 0.192F}}},
    {"square",           {{0.0861F, 0.144F,  0.28F, 0.613F}, {0.0626F, 0.106F, 0.179F, 0.332F}, {0.0414F, 0.0932F, 0.146F, 0.266F}}},
    {"rank",             {{ 2.74F, 0.822F,  1.21F,  1.56F}, { 2.61F, 0.848F, 0.978F,  1.04F}, { 1.67F, 0.799F,  1.25F,  1.57F}}},
    {"merge",            {{ 10.6F,  12.7F,  11.7F,  1.27F}, {    14,  14.3F,  12.2F,  6.08F}, { 13.1F,  6.33F,  2.26F,      0}}},
    {"merged lane",      {{0.537F, 0.874F,  1.45F,   2.8F}, {0.409F, 0.501F, 0.931F,  1.88F}, {0.394F, 0.545F,  0.84F,  1.67F}}},
    {"merged result",    {{0.0959F, 0.0941F, 0.0143F, 0.181F}, { 0.25F,      0,      0, 0.478F}, { 0.39F, 0.0183F,      0,      0}}},
    {"jump",             {{0.0288F, 0.0368F, 0.211F, 0.114F}, {0.422F, 0.268F, 0.0445F, 0.282F}, {0.258F, 0.156F, 0.136F, 0.162F}}},
    {"row",              {{ 10.8F,  10.6F,  10.2F,  10.3F}, { 10.8F,  10.6F,  11.3F,  10.7F}, { 10.9F,  9.59F,  10.2F,  9.82F}}},
    {"long row",         {{ 13.8F,  12.8F,  12.6F,  11.4F}, { 13.3F,  14.7F,  12.5F,  13.2F}, { 12.7F,  10.4F,  13.9F,  11.4F}}},
    {"row vector",       {{ 0.29F,  0.39F, 0.361F, 0.415F}, {0.504F, 0.561F, 0.531F, 0.545F}, {0.737F, 0.911F, 0.764F, 0.738F}}},
    {"row backward",     {{0.271F, 0.399F, 0.417F, 0.393F}, {0.585F, 0.583F,   0.5F, 0.543F}, {0.794F,  1.35F, 0.721F, 0.903F}}},
    {"row strided",      {{0.0607F, 0.154F, 0.231F, 0.526F}, {0.0594F, 0.0975F, 0.243F, 0.326F}, {0.0374F, 0.0981F, 0.158F, 0.302F}}},
    {"row apart",        {{0.155F, 0.532F, 0.535F, 0.758F}, {0.154F, 0.342F,   0.6F, 0.669F}, {0.126F, 0.337F, 0.376F, 0.558F}}},
    {"selected row",     {{   105,     80,  95.7F,  85.1F}, {   137,    117,    106,  89.5F}, {   101,  91.9F,  85.3F,  68.9F}}},
    {"row packed",       {{0.0638F, 0.195F, 0.283F, 0.164F}, {0.0319F, 0.195F, 0.514F, 0.328F}, {0.0304F, 0.233F,  0.15F, 0.516F}}},
    {"stripes vector",   {{ 2.11F,  3.85F,  1.83F,  3.08F}, { 4.23F,  2.52F,  2.85F,  3.23F}, { 4.63F,  4.89F,   3.9F,  3.48F}}},
    {"blocks vector",    {{ 1.12F,  2.25F, 0.742F,  1.13F}, { 1.13F,  1.12F, 0.964F, 0.819F}, {  1.2F,  1.33F, 0.911F, 0.986F}}},
    {"block searched",   {{ 61.7F,  27.4F,  38.6F,    124}, { 74.9F,  54.8F,  45.1F,  62.6F}, { 75.7F,  52.2F,     43,  26.5F}}},
    {"sample vector",    {{ 3.46F,  6.68F,  2.04F,  2.15F}, { 4.55F,  3.34F,  2.64F,  1.97F}, { 6.62F,  6.16F,  4.93F,  3.32F}}},
    {"threshold byte",   {{0.909F, 0.198F, 0.0714F, 0.0644F}, {0.693F, 0.393F,  0.11F, 0.0322F}, {0.414F, 0.273F, 0.0656F, 0.0219F}}},
    {"collected",        {{ 6.59F,  6.68F,  7.19F,  4.38F}, { 3.29F,  3.34F,   3.6F,  8.77F}, { 3.17F,      0,  2.15F,  2.04F}}},
    {"sorted pair",      {{0.724F, 0.972F, 0.518F, 0.519F}, {0.785F, 0.528F, 0.466F, 0.572F}, { 1.45F,  1.11F,  1.06F,  1.15F}}},
    {"sorted by digits", {{   491,      0,      0,      0}, {   246,      0,      0,      0}, {   259, 0.00115F,      0,      0}}},
    {"sorted item",      {{  5.3F,  11.8F,  13.7F,     16}, {  5.3F,  11.8F,  13.7F,     16}, { 3.97F,  9.39F,  12.2F,  16.2F}}},
    {"key row",          {{    17,     11,  9.04F,  6.78F}, { 8.49F,  10.4F,   9.7F,  13.6F}, {  7.4F,  5.72F,      8,  4.68F}}},
    {"slot vector",      {{0.829F, 0.478F,  1.27F,  1.24F}, {0.748F, 0.956F,  1.14F,  1.57F}, {0.567F, 0.997F,  1.18F, 0.749F}}},
    {"slot later",       {{ 9.45F,  15.3F,  5.59F,     13}, { 13.6F,  7.66F,  11.2F,   6.5F}, { 4.84F,  10.8F,  2.61F,  7.52F}}},
    {"slot insert",      {{0.659F, 0.744F, 0.567F,  1.28F}, {0.764F, 0.923F, 0.691F, 0.797F}, {  1.1F,  0.98F,  1.04F,  1.12F}}},
    {"slot written",     {{0.856F,  1.12F,  2.25F,  3.25F}, {  1.2F, 0.562F,  1.12F,  2.09F}, {     1, 0.375F, 0.551F,  2.08F}}},
    {"pair",             {{ 0.23F, 0.167F, 0.0854F, 0.0315F}, {0.344F, 0.335F, 0.117F, 0.063F}, { 0.42F, 0.512F, 0.394F, 0.399F}}},
    {"placed",           {{ 3.61F,  4.56F,  4.41F,  8.69F}, { 2.98F,  3.08F,  3.17F,  4.64F}, { 1.78F,   1.8F,  2.21F,  2.87F}}},
};
// clang-format on

Machine machine_of(std::string_view instruction_set, Family family, const Caches& caches) {
  // Intel's processors keep one of the few buffers that loads wait in for each line that is written
  // past the caches, until memory accepts it. On AMD's processors rows take longer with prefetches.
  const bool amd = family == Family::kAmd;
  Machine machine = {0, 16, {512 * 1024, 32 * 1024 * 1024}, 32, !amd, amd};
  if (instruction_set == "x86-64-v3") {
    machine.vectors = 1;
    machine.vector_bytes = 32;
  } else if (instruction_set == "x86-64-v4") {
    machine.vectors = 2;
    machine.vector_bytes = 64;
    machine.caches.l2 = 1024 * 1024;
  }
  if (caches.l2 > 0) machine.caches.l2 = caches.l2;
  if (caches.l3 > 0) machine.caches.l3 = caches.l3;
  return machine;
}

}  // namespace dmlcpu
