// Links the project's library; the exit status says whether it works.
int largest_of_three(const float* x);

int main() {
  const float x[] = {1, 3, 2};
  return largest_of_three(x) == 1 ? 0 : 1;
}
