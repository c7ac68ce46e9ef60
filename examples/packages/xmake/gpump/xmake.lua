package("gpump")
    set_description("GPU preemption and fault mechanisms for simulators, as one C header")
    set_license("MIT")
    add_urls("@URL@/gpump-$(version).tar.gz")
    add_versions("@VERSION@", "@SHA256@")
    add_deps("cmake", "stb")

    on_install(function (package)
        local options = {"-DGPUMP_TESTS=OFF", "-DGPUMP_EXAMPLES=OFF", "-DGPUMP_BENCH=OFF"}
        table.insert(options, "-DCMAKE_BUILD_TYPE=" .. (package:is_debug() and "Debug" or "Release"))
        table.insert(options, "-DBUILD_SHARED_LIBS=" .. (package:config("shared") and "ON" or "OFF"))
        import("package.tools.cmake").install(package, options, {packagedeps = "stb"})
    end)

    on_test(function (package)
        assert(package:has_cfuncs("gpump_victim_find", {includes = "gpump.h"}))
    end)
package_end()
