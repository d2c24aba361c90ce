#include "plan/machine.hpp"

namespace dmlcpu {

// bench/calibrate.py --write fills in the numbers of the machine that it runs on. docs/tuning.md
// says where and when these were measured.
// clang-format off
const CostRow cost_rows[kCosts] = {
    // elements of 1, 2, 4 and 8 bytes: in vectors of 16, of 32, of 64 bytes
    {"call",             {{    11,  5.62F,  6.09F,  7.35F}, { 10.8F,  5.31F,  6.91F,  7.06F}, { 9.04F,  4.52F,  5.37F,  6.18F}}},
    {"tile",             {{ 56.7F,  52.1F,  38.3F,  34.5F}, { 59.9F,  59.3F,  49.1F,  40.7F}, { 69.9F,  62.1F,  53.1F,     46}}},
    {"take",             {{0.551F, 0.168F, 0.405F, 0.579F}, { 0.55F,  0.37F, 0.463F,  0.65F}, {0.289F, 0.197F, 0.652F, 0.617F}}},
    {"vector",           {{0.502F, 0.617F, 0.506F, 0.554F}, {0.599F, 0.656F, 0.624F, 0.664F}, { 1.25F,  1.32F,  1.11F,  1.13F}}},
    {"short vector",     {{0.505F, 0.902F, 0.546F, 0.638F}, {0.505F, 0.421F, 0.529F, 0.457F}, {0.531F, 0.544F, 0.366F, 0.385F}}},
    {"wide vector",      {{0.624F, 0.669F, 0.584F, 0.653F}, {0.763F, 0.812F, 0.728F, 0.838F}, { 1.34F,  1.52F,  1.25F,  1.31F}}},
    {"scalar",           {{0.962F,  1.09F,  1.14F,   1.3F}, {0.976F,  1.17F,   1.2F,   1.3F}, {0.987F,  1.07F,  1.14F,   1.3F}}},
    {"strided",          {{0.0667F, 0.125F, 0.209F,  0.41F}, {0.0549F, 0.122F, 0.173F, 0.346F}, {0.0625F, 0.0924F, 0.174F,  0.35F}}},
    {"strided apart",    {{ 0.33F, 0.421F, 0.451F, 0.625F}, {0.296F,  0.38F, 0.428F, 0.626F}, {0.302F, 0.366F, 0.395F, 0.541F}}},
    {"transposed",       {{0.0587F, 0.0946F, 0.186F,  0.35F}, {0.0433F, 0.0623F,  0.12F, 0.213F}, {0.0352F, 0.0633F, 0.107F, 0.175F}}},
    {"square",           {{0.0786F, 0.114F, 0.241F, 0.597F}, {0.0487F, 0.0734F, 0.149F, 0.328F}, {0.0426F, 0.0725F, 0.138F, 0.252F}}},
    {"rank",             {{ 2.38F, 0.968F, 0.763F,  2.75F}, { 2.03F,      1, 0.872F,  2.87F}, { 1.61F,  1.01F, 0.798F,  2.02F}}},
    {"merge",            {{ 12.1F,  9.55F,  7.31F,  4.03F}, { 15.2F,  10.7F,  10.5F,  7.44F}, { 14.8F,  9.75F,  9.91F,  7.52F}}},
    {"merged lane",      {{0.461F,  0.62F,  1.24F,  2.23F}, {0.343F, 0.381F,  0.77F,  1.17F}, {0.351F, 0.387F, 0.784F,  1.15F}}},
    {"merged group",     {{ 1.49F,  3.68F,  4.15F,  5.77F}, { 1.95F,  2.73F,  3.39F,  4.55F}, {  1.3F,  3.04F,  2.57F,  4.41F}}},
    {"merged result",    {{0.114F,      0, 0.314F, 0.198F}, {     0,      0, 0.065F, 0.456F}, {     0,      0, 0.0219F,      0}}},
    {"written apart",    {{0.529F, 0.661F, 0.648F,  1.01F}, {0.436F, 0.555F, 0.538F, 0.767F}, {0.382F, 0.473F, 0.477F, 0.721F}}},
    {"jump",             {{0.767F, 0.198F, 0.996F, 0.708F}, {0.644F, 0.184F,  1.26F, 0.659F}, {0.379F, 0.196F, 0.934F, 0.718F}}},
    {"row",              {{ 8.37F,  7.78F,  7.62F,  8.77F}, { 8.67F,  7.99F,  8.19F,  7.73F}, { 9.14F,  9.37F,  9.11F,  8.78F}}},
    {"long row",         {{ 11.6F,  11.7F,  10.9F,  9.02F}, { 9.17F,  9.72F,     11,  10.8F}, { 13.7F,   9.8F,  14.6F,  12.2F}}},
    {"row vector",       {{0.253F, 0.331F, 0.342F, 0.415F}, {0.391F, 0.493F,  0.45F,  0.44F}, {0.723F, 0.947F, 0.803F, 0.773F}}},
    {"row backward",     {{0.577F, 0.194F,  0.31F, 0.358F}, { 1.02F, 0.255F,  0.42F, 0.472F}, { 1.95F, 0.647F, 0.703F, 0.756F}}},
    {"row strided",      {{0.0457F,  0.11F, 0.225F,  0.36F}, { 0.03F, 0.0885F, 0.151F, 0.236F}, {0.0312F, 0.0789F, 0.157F, 0.252F}}},
    {"row apart",        {{0.241F,   0.4F, 0.455F, 0.624F}, { 0.19F, 0.262F, 0.391F, 0.634F}, {0.201F, 0.308F, 0.391F, 0.606F}}},
    {"packed row",       {{ 13.4F,  11.5F,  9.74F,  18.3F}, { 10.5F,  13.8F,  10.6F,  11.6F}, { 11.5F,  11.1F,  9.98F,  9.96F}}},
    {"selected row",     {{ 76.8F,  77.9F,  65.7F,  56.8F}, { 93.1F,  98.5F,  93.2F,     70}, {   109,    110,  96.4F,  74.4F}}},
    {"row packed",       {{0.425F, 0.181F, 0.372F,  1.46F}, {0.567F, 0.134F,  0.32F,  1.37F}, {0.388F, 0.132F, 0.328F, 0.941F}}},
    {"stripes vector",   {{ 1.65F,  1.93F,  1.58F,  1.92F}, { 2.16F,  2.57F,  1.89F,  2.25F}, {  4.3F,  5.39F,  4.12F,  3.01F}}},
    {"blocks vector",    {{0.355F, 0.479F, 0.372F, 0.383F}, {0.505F, 0.684F, 0.582F, 0.583F}, {0.911F,  1.38F,  1.18F,  1.07F}}},
    {"block searched",   {{ 43.1F,  36.2F,  36.8F,  42.6F}, { 43.9F,  41.4F,  30.3F,  40.3F}, {   116,  50.7F,  41.3F,  27.5F}}},
    {"sample vector",    {{ 1.43F,  1.69F,  1.42F,  1.14F}, { 1.99F,  2.46F,  1.99F,  1.59F}, { 4.47F,  4.96F,  4.05F,  3.47F}}},
    {"threshold byte",   {{0.677F, 0.197F, 0.103F, 0.044F}, {0.549F, 0.141F, 0.0644F, 0.0242F}, {0.452F, 0.159F, 0.0627F, 0.0263F}}},
    {"collected",        {{ 2.46F,  2.64F,  3.21F,  3.57F}, { 2.19F,  2.04F,  2.51F,  2.36F}, {  2.6F,  1.64F,  2.16F,  1.27F}}},
    {"sorted pair",      {{0.554F, 0.481F, 0.368F, 0.359F}, {0.462F, 0.305F, 0.297F, 0.365F}, { 1.32F, 0.897F, 0.766F, 0.791F}}},
    {"sorted by digits", {{   469, 0.00197F, 0.00246F, 0.00437F}, {   514, 0.00118F, 0.00113F, 0.00104F}, {   423, 0.00218F, 0.00138F, 0.00136F}}},
    {"sorted item",      {{  4.1F,  10.8F,  14.6F,  21.9F}, { 3.67F,  10.2F,  13.2F,  20.2F}, {  3.5F,  9.34F,     12,  17.5F}}},
    {"key row",          {{ 3.26F,  5.49F,  6.78F,  4.34F}, { 5.08F,      7,   7.3F,  3.67F}, { 3.54F,  5.83F,  6.06F,  4.94F}}},
    {"slot vector",      {{0.849F, 0.704F, 0.904F,  1.23F}, { 0.94F, 0.687F, 0.832F,  1.33F}, {0.812F, 0.897F,  1.34F,  1.65F}}},
    {"slot later",       {{ 7.41F,  6.59F,  8.07F,  8.62F}, { 5.19F,  6.34F,  5.83F,  8.63F}, { 7.42F,  9.55F,  7.07F,  10.8F}}},
    {"slot insert",      {{0.514F, 0.528F, 0.564F, 0.686F}, {0.515F, 0.513F, 0.585F, 0.682F}, {0.964F,  1.13F,  1.12F,  1.06F}}},
    {"slot written",     {{0.667F,  0.62F, 0.899F,  1.53F}, {0.909F, 0.342F, 0.537F,  1.07F}, {  0.8F, 0.187F, 0.312F,  1.65F}}},
    {"pair",             {{0.236F,  0.26F, 0.136F, 0.171F}, {0.211F, 0.266F, 0.102F, 0.164F}, {0.488F, 0.621F, 0.477F, 0.521F}}},
    {"placed",           {{ 2.14F,  2.13F,  2.89F,  3.99F}, { 1.82F,  1.75F,  2.23F,  3.06F}, { 1.67F,  1.61F,  1.99F,  2.59F}}},
};
// clang-format on

Machine machine_of(std::string_view instruction_set, Family family, const Caches& caches) {
  // On Intel's processors a non-temporal store occupies one of the few fill buffers of L1, which
  // loads need as well, until its line is in memory. On AMD's processors rows take longer with
  // software prefetches.
  const bool amd = family == Family::kAmd;
  const int vectors = instruction_set == "x86-64-v4" ? 2 : instruction_set == "x86-64-v3" ? 1 : 0;
  const std::int64_t l2 = (vectors == 2 ? 1024 : 512) * 1024;
  Machine machine = {vectors, 16 << vectors, {l2, 32 * 1024 * 1024}, !amd, amd};
  if (caches.l2 > 0) machine.caches.l2 = caches.l2;
  if (caches.l3 > 0) machine.caches.l3 = caches.l3;
  return machine;
}

}  // namespace dmlcpu
