// Package rank measures ranked retrieval: it generates workloads, checks rankings against plain
// scores, and runs the programs of PISA (github.com/pisa-engine/pisa) for comparison.
//
// # Building PISA
//
// The recorded figures are of commit 69f2a83 with its submodules, built with gcc 12, Boost 1.74 and
// oneTBB 2021.8 (Debian: g++, cmake, libboost-dev, libtbb-dev), which takes three minutes on two cores:
//
//	cmake -S pisa -B build -DCMAKE_BUILD_TYPE=Release -DPISA_SYSTEM_BOOST=ON -DPISA_SYSTEM_ONETBB=ON \
//	    -DPISA_ENABLE_TESTING=OFF -DPISA_ENABLE_BENCHMARKING=OFF -DSPDLOG_FMT_EXTERNAL=ON
//	make -C build compress_inverted_index create_wand_data lexicon evaluate_queries queries
//	heddle bench rank --table pisa --pisa build/bin
//
// SPDLOG_FMT_EXTERNAL lets spdlog use PISA's copy of fmt. Without it, spdlog 1.13 brings another version of
// fmt, and forward_index_builder.cpp does not compile. The submodule gumbo-parser needs autoconf and
// libtool. It only reads HTML: any other build of its sources as build/gumbo-parser/lib/libgumbo.a does, if
// add_dependencies(gumbo::gumbo gumbo-external) is taken out of CMakeLists.txt.
package rank
