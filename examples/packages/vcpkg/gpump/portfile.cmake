vcpkg_download_distfile(ARCHIVE
  URLS "@URL@/gpump-@VERSION@.tar.gz"
  FILENAME "gpump-@VERSION@.tar.gz"
  SHA512 @SHA512@)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DGPUMP_TESTS=OFF -DGPUMP_EXAMPLES=OFF -DGPUMP_BENCH=OFF
    "-DCMAKE_C_STANDARD_INCLUDE_DIRECTORIES=${CURRENT_INSTALLED_DIR}/include") # stb_ds.h
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/gpump)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
