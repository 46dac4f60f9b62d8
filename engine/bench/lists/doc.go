// Package lists measures intersections of posting lists, beside CRoaring
// (github.com/RoaringBitmap/CRoaring) where its library is installed: a small driver in C is
// compiled against it.
//
// # Building CRoaring
//
// The recorded figures are of commit 0489dd4, built with gcc 12:
//
//	cmake -S CRoaring -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS='-O3 -march=native' \
//	    -DENABLE_ROARING_TESTS=OFF -DROARING_USE_CPM=OFF -DCMAKE_INSTALL_PREFIX=$PWD/prefix
//	make -C build install
//	heddle bench lists --table croaring --croaring prefix --real DIR
package lists
